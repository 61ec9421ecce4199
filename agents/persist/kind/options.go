package kind

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	react "github.com/rehearse-dev/rehearse/agents/react/kind"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options are the keys under drive.supervise: the supervisor with its workers, on a store that may
// crash with the process or run full.
type Options struct {
	// Plan is the plan to execute. Its paths are relative to the workspace.
	Plan plan.Plan `yaml:"plan" json:"plan"`
	// Copies, if given, replaces the last task of the plan by that many copies. In its id, text,
	// files and dependencies, {n} is the number of the copy, from 1, and {before} the number of
	// the copy before. The first copy has no dependency on the one before.
	Copies int `yaml:"copies,omitempty" json:"copies,omitempty" jsonschema:"minimum=1,maximum=10000"`
	// Looks script the results of the probe of a check, one after the other; the last one repeats.
	// They replace a probe of the plan.
	Looks map[plan.Check][]Look `yaml:"looks,omitempty" json:"looks,omitempty"`
	// Contents is true if prompts have the contents of files of the workspace; otherwise they only name
	// files.
	Contents bool `yaml:"contents,omitempty" json:"contents,omitempty"`
	// Accept scripts the results of the acceptance of a task, by its id: one for each report that the
	// task is done; the last one repeats. They replace the commands of the plan.
	Accept map[string][]Look `yaml:"accept,omitempty" json:"accept,omitempty"`
	// CannotAct is true for a backend that only answers, such as an API without tools: work that its
	// loops report may not have been done.
	CannotAct              bool `yaml:"cannot_act,omitempty" json:"cannot_act,omitempty"`
	react.WorkspaceOptions `yaml:",inline"`
	// Store is where the state is stored: "memory" (default) or "file" (a journal on disk).
	Store string `yaml:"store,omitempty" json:"store,omitempty" jsonschema:"enum=memory,enum=file"`
	// Crashes are crashes of the process, which is started again each time.
	Crashes []Crash `yaml:"crashes,omitempty" json:"crashes,omitempty"`
	// DiskFull is the write, from 1, that finds the disk full, once.
	DiskFull int `yaml:"disk_full,omitempty" json:"disk_full,omitempty" jsonschema:"minimum=1"`
	// Restarts is the number of times that a run is started again unless it is complete.
	Restarts int `yaml:"restarts,omitempty" json:"restarts,omitempty" jsonschema:"minimum=0,maximum=100"`
	// Answers are the answers to escalated tasks, by task, that a person records before a restart.
	Answers map[string]string `yaml:"answers,omitempty" json:"answers,omitempty"`
	// Amended is the plan with which the first restart goes on.
	Amended *plan.Plan `yaml:"amended,omitempty" json:"amended,omitempty"`
	// InterruptAfter is the time when the user presses Ctrl-C, on the clock of the trial.
	InterruptAfter quantity.Duration `yaml:"interrupt_after,omitempty" json:"interrupt_after,omitempty"`
}

// Look is one result of a scripted probe.
type Look struct {
	// Verdict is the result of the check.
	Verdict plan.Verdict `yaml:"verdict" json:"verdict" jsonschema:"enum=pass,enum=fail,enum=unknown"`
	// Details is the reason for the verdict.
	Details string `yaml:"details,omitempty" json:"details,omitempty"`
	// Items are what the check found, such as open todos.
	Items []string `yaml:"items,omitempty" json:"items,omitempty"`
	// Takes is the duration of the probe, on the clock of the trial.
	Takes quantity.Duration `yaml:"takes,omitempty" json:"takes,omitempty"`
}

// Crash is a crash of a process at a write to the store, counted over all processes of the trial,
// from 1.
type Crash struct {
	// Write is the number of the write, from 1.
	Write int `yaml:"write" json:"write" jsonschema:"minimum=1"`
	// When is "before" (default: the write is lost) or "after" (the data is written, but the process
	// does not know).
	When string `yaml:"when,omitempty" json:"when,omitempty" jsonschema:"enum=before,enum=after"`
}

func (d *Options) planWithCopies() plan.Plan {
	p := d.Plan
	if d.Copies == 0 || len(p.Tasks) == 0 {
		return p
	}
	last := p.Tasks[len(p.Tasks)-1]
	p.Tasks = slices.Clone(p.Tasks[:len(p.Tasks)-1])
	for n := range d.Copies {
		p.Tasks = append(p.Tasks, numbered(last, n+1))
	}
	return p
}

// numbered returns the n-th copy of a task.
func numbered(t plan.Task, n int) plan.Task {
	replace := strings.NewReplacer("{n}", strconv.Itoa(n), "{before}", strconv.Itoa(n-1)).Replace
	t.ID, t.Do = replace(t.ID), replace(t.Do)
	t.Files, t.After = slices.Clone(t.Files), slices.Clone(t.After)
	for i := range t.Files {
		t.Files[i] = replace(t.Files[i])
	}
	if n == 1 {
		t.After = slices.DeleteFunc(t.After, func(id string) bool { return strings.Contains(id, "{before}") })
	}
	for i := range t.After {
		t.After[i] = replace(t.After[i])
	}
	return t
}

func (d *Options) check(c *scenarios.Checker) {
	const at = "drive.supervise"
	if problems := d.planWithCopies().Problems(); d.Copies == 0 || len(d.Plan.Tasks) == 0 {
		for _, p := range problems {
			c.Add(strings.TrimSuffix(at+".plan."+p.Path, "."), p.Nearest, "%s", p.Message)
		}
	} else if len(problems) > 0 { // the positions are those of the copies
		c.Add(at+".copies", "", "with the copies: %s", problems[0])
	}
	for _, name := range slices.Sorted(maps.Keys(d.Looks)) {
		path := yamlsrc.Join(at+".looks", string(name))
		if known := plan.CheckNames(); !slices.Contains(known, string(name)) {
			c.Add(path, suggest.Nearest(string(name), known), "there is no check %q; there are %s", name, strings.Join(known, ", "))
		}
		if len(d.Looks[name]) == 0 {
			c.Add(path, "", "the list is empty; give at least one look")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.Accept)) {
		path := yamlsrc.Join(at+".accept", id)
		if !slices.ContainsFunc(d.planWithCopies().Tasks, func(t plan.Task) bool { return t.ID == id }) {
			c.Add(path, "", "there is no task %q", id)
		}
		if len(d.Accept[id]) == 0 {
			c.Add(path, "", "the list is empty; give at least one result")
		}
	}
	if d.Amended != nil {
		for _, p := range d.Amended.Problems() {
			c.Add(strings.TrimSuffix(at+".amended."+p.Path, "."), p.Nearest, "%s", p.Message)
		}
		if d.Restarts == 0 {
			c.Add(at+".amended", "", "the plan is amended before a restart; set restarts")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.Answers)) {
		if path := yamlsrc.Join(at+".answers", id); strings.TrimSpace(d.Answers[id]) == "" {
			c.Add(path, "", "the answer is empty")
		} else if d.Restarts == 0 {
			c.Add(path, "", "answers are recorded before a restart; set restarts, or give person for answers at once")
		}
	}
	for i, crash := range d.Crashes {
		if i > 0 && crash.Write <= d.Crashes[i-1].Write {
			c.Add(fmt.Sprintf("%s.crashes[%d].write", at, i), "",
				"the crash at write %d comes after the one at %d; list crashes in order", crash.Write, d.Crashes[i-1].Write)
		}
	}
	d.Check(c, at)
	for _, name := range slices.Sorted(maps.Keys(d.Plan.Workers)) {
		if w := d.Plan.Workers[name].React; w != nil {
			d.CheckAgent(c, yamlsrc.Join(at+".plan.workers", name)+".react.agent", w.Agent)
		}
	}
}
