package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/glob"
	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// The limits of a plan, far above those of real plans. They limit the cost of a hostile plan.
const (
	maxTasks  = 10_000
	maxText   = 64 << 10 // bytes of a task, a goal or a fix
	maxItems  = 1000     // entries of any other list
	maxAccept = 20       // commands that accept a task
	maxPath   = 4096     // bytes
	maxWords  = 50       // markers, each of which is searched for in all files

	// maxProblems is the largest number of reported problems.
	maxProblems = 100
	// maxNearest is the largest number of unknown ids for which the nearest known id is searched.
	// Each is compared with all.
	maxNearest = 10
)

// Problem is an error in a plan.
type Problem struct {
	// Path is the place in the plan, such as "tasks[2].after[0]".
	Path string
	// Message describes what is wrong and how to fix it.
	Message string
	// Nearest is the valid word that was probably meant; otherwise empty.
	Nearest string
}

// String returns the path, the message and the suggestion.
func (p Problem) String() string {
	text := p.Path + ": " + p.Message
	if p.Nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", p.Nearest)
	}
	return text
}

// Problems returns the errors of a plan, at most a hundred, in time linear in its size.
func (p Plan) Problems() []Problem {
	v := &validator{plan: p}
	v.head()
	v.tasks()
	v.workers()
	v.checks()
	v.limits()
	return v.problems
}

var (
	idPattern = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	idHelp    = `write up to 64 lower-case letters, digits, ".", "_" and "-", the first a letter or digit`
)

// validator collects problems.
type validator struct {
	plan     Plan
	problems []Problem
	nearest  int // number of searches
}

func (v *validator) add(path, format string, args ...any) {
	v.addNear(path, "", format, args...)
}

func (v *validator) addNear(path, nearest, format string, args ...any) {
	if len(v.problems) < maxProblems {
		v.problems = append(v.problems, Problem{path, fmt.Sprintf(format, args...), nearest})
	}
}

func (v *validator) head() {
	if !idPattern().MatchString(v.plan.Name) {
		v.add("name", "%q is not a name; %s", clip(v.plan.Name), idHelp)
	}
	v.text("goal", v.plan.Goal)
	switch n := len(v.plan.Tasks); {
	case n == 0:
		v.add("tasks", "the plan has no tasks; give at least one")
	case n > maxTasks:
		v.add("tasks", "the plan has %d tasks; at most %d are allowed", n, maxTasks)
	}
}

func (v *validator) tasks() {
	if len(v.plan.Tasks) > maxTasks {
		return
	}
	index := make(map[string]int, len(v.plan.Tasks)) // of the first task with each id
	ids := make([]string, len(v.plan.Tasks))
	for i, t := range v.plan.Tasks {
		at := item("tasks", i)
		if first, twice := index[t.ID]; twice {
			v.add(at+".id", "the id %q is given twice; tasks[%d] has it too", clip(t.ID), first)
		} else {
			index[t.ID] = i
		}
		ids[i] = t.ID
		v.task(at, t)
	}
	before := make([][]int, len(v.plan.Tasks))
	for i, t := range v.plan.Tasks {
		before[i] = v.after(item("tasks", i), t, index, ids)
	}
	for _, c := range cycles(before) {
		last := c[len(c)-1] // depends on the first
		j := slices.Index(v.plan.Tasks[last].After, v.plan.Tasks[c[0]].ID)
		v.add(item(item("tasks", last)+".after", j), "the tasks depend on each other: %s; remove one of these dependencies", v.arrows(c))
	}
}

// arrows describes a cycle as a → b → a, where → means "depends on".
func (v *validator) arrows(cycle []int) string {
	const most = 10
	names := make([]string, 0, most+2)
	for i, t := range cycle {
		if i == most {
			names = append(names, fmt.Sprintf("… (%d more)", len(cycle)-most))
			break
		}
		names = append(names, v.plan.Tasks[t].ID)
	}
	return strings.Join(append(names, v.plan.Tasks[cycle[0]].ID), " → ")
}

func (v *validator) task(at string, t Task) {
	if !idPattern().MatchString(t.ID) {
		v.add(at+".id", "%q is not an id; %s", clip(t.ID), idHelp)
	}
	if strings.TrimSpace(t.Do) == "" {
		v.add(at+".do", "the task is empty; describe what is to be done")
	}
	v.text(at+".do", t.Do)
	v.text(at+".skip", t.Skip)
	if t.Skip != "" && strings.TrimSpace(t.Skip) == "" {
		v.add(at+".skip", "the reason is empty; write why the task is skipped")
	}
	v.worker(at+".by", t.By)
	v.list(at+".files", t.Files)
	for i, file := range t.Files {
		v.path(item(at+".files", i), file)
	}
	if t.Retries != nil && (*t.Retries < 0 || *t.Retries > 100) {
		v.add(at+".retries", "%d is not allowed; use 0 to 100", *t.Retries)
	}
	v.duration(at+".timeout", t.Timeout)
	v.accept(at+".accept", t.Accept)
}

// accept checks the commands that accept the work on a task.
func (v *validator) accept(at string, all []Acceptance) {
	if len(all) > maxAccept {
		v.add(at, "the list has %d commands; at most %d are allowed", len(all), maxAccept)
		return
	}
	for i, a := range all {
		at := item(at, i)
		if len(a.Command) == 0 {
			v.add(at+".command", "the command is missing; write a program and its arguments, such as [go, test, ./...]")
		}
		v.command(at, a.Command, a.Env)
		v.duration(at+".timeout", a.Timeout)
	}
}

// after returns the indices of the tasks that t depends on.
func (v *validator) after(at string, t Task, index map[string]int, ids []string) []int {
	if !v.list(at+".after", t.After) {
		return nil
	}
	before := make([]int, 0, len(t.After))
	given := make(map[string]bool, len(t.After))
	for i, id := range t.After {
		task, known := index[id]
		switch at := item(at+".after", i); {
		case given[id]:
			v.add(at, "the dependency %q is given twice", clip(id))
		case !known:
			v.addNear(at, v.near(id, ids), "there is no task with the id %q", clip(id))
		default:
			before = append(before, task)
		}
		given[id] = true
	}
	return before
}

// near returns the nearest id, for a limited number of searches.
func (v *validator) near(id string, ids []string) string {
	if v.nearest++; v.nearest > maxNearest {
		return ""
	}
	return suggest.Nearest(id, ids)
}

func (v *validator) worker(at, name string) {
	if name == "" || len(v.problems) >= maxProblems {
		return
	}
	if _, ok := v.plan.Worker(name); ok {
		return
	}
	names := v.plan.workerNames()
	v.addNear(at, v.near(name, names), "there is no worker %q; there are %s", clip(name), listed(names))
}

// listed returns the first names.
func listed(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

func (v *validator) workers() {
	if n := len(v.plan.Workers); n > maxItems {
		v.add("workers", "there are %d workers; at most %d are allowed", n, maxItems)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(v.plan.Workers)) {
		at, w := yamlsrc.Join("workers", name), v.plan.Workers[name]
		if !idPattern().MatchString(name) {
			v.add(at, "%q is not the name of a worker; %s", clip(name), idHelp)
		}
		v.one(at, "a worker", []kind{{"loop", w.Loop != nil}, {"react", w.React != nil}, {"command", len(w.Command) > 0}})
		if w.Loop != nil {
			v.loop(at+".loop", *w.Loop)
		}
		if w.React != nil {
			v.path(at+".react.agent", w.React.Agent)
			v.path(at+".react.workspace", cmp.Or(w.React.Workspace, "."))
			if form := w.React.Interface; !slices.Contains([]string{"", "tools", "yaml"}, form) {
				v.add(at+".react.interface", "%q is not an interface; use tools or yaml", form)
			}
			if n := w.React.MaxIterations; n != nil && *n < 1 {
				v.add(at+".react.max_iterations", "%d is not allowed; use 1 or more", *n)
			}
		}
		v.command(at, w.Command, w.Env)
	}
}

// loop checks the options of a runner loop, which are complete except for the prompt.
func (v *validator) loop(at string, o loop.Options) {
	if o.Prompt != "" {
		v.add(at+".prompt", "the prompt of a worker is its task; remove it, and write in goal what applies to all tasks")
	}
	if len(o.Checks) > 0 {
		v.add(at+".checks", "the loop of a worker has no checks; use accept of its tasks")
	}
	if o.Backend != "" {
		v.add(at+".backend", "the backend is chosen for the whole run; remove it")
	}
	o.Prompt = "the task"
	_, err := loop.Resolve(o, loop.Options{})
	fields, _ := errors.AsType[loop.FieldErrors](err)
	for _, f := range fields {
		v.add(at+"."+f.Field, "%s", f.Message)
	}
}

func (v *validator) checks() {
	known := CheckNames()
	for _, name := range slices.Sorted(maps.Keys(v.plan.Checks)) {
		at, p := yamlsrc.Join("checks", string(name)), v.plan.Checks[name]
		if !slices.Contains(known, string(name)) {
			v.addNear(at, v.near(string(name), known), "there is no check %q; there are %s", clip(string(name)), strings.Join(known, ", "))
		}
		v.probe(at, p)
	}
}

func (v *validator) probe(at string, p Probe) {
	v.one(at, "a probe", []kind{
		{"command", len(p.Command) > 0}, {"file", p.File != ""}, {"markers", len(p.Markers) > 0}, {"none", p.None != ""},
	})
	v.command(at, p.Command, p.Env)
	if p.Timeout != 0 && len(p.Command) == 0 {
		v.add(at+".timeout", "only a command has a timeout")
	}
	v.duration(at+".timeout", p.Timeout)
	if p.File != "" {
		v.path(at+".file", p.File)
	}
	v.markers(at, p)
	v.text(at+".fix", p.Fix)
	v.worker(at+".by", p.By)
}

func (v *validator) markers(at string, p Probe) {
	if len(p.Markers) > maxWords {
		v.add(at+".markers", "there are %d markers; at most %d are allowed", len(p.Markers), maxWords)
	}
	for i, word := range p.Markers {
		if strings.TrimSpace(word) != word || word == "" || strings.ContainsAny(word, "\r\n") || len(word) > 64 {
			v.add(item(at+".markers", i), "%q is not a marker; write a word such as TODO, of at most 64 bytes", clip(word))
		}
	}
	if len(p.In) > 0 && len(p.Markers) == 0 {
		v.add(at+".in", "only markers are searched in files; give markers, or remove in")
	}
	v.list(at+".in", p.In)
	for i, pattern := range p.In {
		if _, err := glob.Compile(pattern); err != nil || len(pattern) > maxPath {
			v.add(item(at+".in", i), "cannot be used: %v", cmp.Or(err, errors.New("the pattern is too long")))
		}
	}
}

func (v *validator) limits() {
	l := v.plan.Limits
	for _, n := range []struct {
		key   string
		value int
	}{
		{"rounds", l.Rounds},
		{"check_every", l.CheckEvery},
		{"context_files", l.ContextFiles},
		{"context_file_bytes", l.ContextFileBytes},
		{"soft_calls", l.SoftCalls},
		{"hard_calls", l.HardCalls},
		{"segments", l.Segments},
		{"budget.calls", l.Budget.Calls},
		{"budget.tokens", l.Budget.Tokens},
	} {
		if n.value < 0 {
			v.add("limits."+n.key, "%d is negative", n.value)
		}
	}
	for _, d := range []struct {
		key   string
		value quantity.Duration
	}{
		{"timeout", l.Timeout},
		{"save_every", l.SaveEvery},
		{"stagnation", l.Stagnation},
		{"no_progress", l.NoProgress},
		{"short_run", l.ShortRun},
		{"optimise_every", l.OptimiseEvery},
	} {
		v.duration("limits."+d.key, d.value)
	}
	if n := l.ContextBytes; n != nil && (*n < 0 || *n > maxContextBytes) {
		v.add("limits.context_bytes", "%d is not allowed; use 0 to %d", *n, maxContextBytes)
	}
	if l.ContextFileBytes > maxContextBytes {
		v.add("limits.context_file_bytes", "%d is not allowed; use at most %d", l.ContextFileBytes, maxContextBytes)
	}
	if l.ContextFiles > maxContextFiles {
		v.add("limits.context_files", "%d is not allowed; use at most %d", l.ContextFiles, maxContextFiles)
	}
	if full := l.WithDefaults(); full.SoftCalls >= full.HardCalls {
		at := "limits.hard_calls"
		if l.SoftCalls != 0 {
			at = "limits.soft_calls"
		}
		v.add(at, "soft_calls (%d) is not below hard_calls (%d), so no checkpoint would be made before the segment ends",
			full.SoftCalls, full.HardCalls)
	}
}

// maxContextFiles is the largest number of files in context.
const maxContextFiles = 10_000

// maxContextBytes is the largest size of files in a prompt.
const maxContextBytes = 1 << 20
