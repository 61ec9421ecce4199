// Package history describes the history of runs: the stored part of a run, the names of runs, and
// results of many runs (trends, flaky scenarios, renames). It has no side effects; package store
// stores it.
//
// The history is an index that is derived from recordings and can be restored from them.
package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
)

// Run is a run without the results of its scenarios.
type Run struct {
	// ID is unique, and begins with "r".
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Subject is the name of the only scenario of a run, of the explored scenario, or of the experiment;
	// empty for a run with several scenarios.
	Subject string `json:"subject,omitempty"`
	// Began and Ended are times of the clock of the machine that ran it; zero if unknown.
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	// At orders the runs. It is the start by the clock of the database, which differs from Began if the
	// clock of the machine was wrong.
	At time.Time `json:"at"`
	// Plan is the id in the recording, which is equal for equal plans.
	Plan string `json:"plan"`
	// Variant distinguishes runs of the same scenarios with another prompt, model or setting; it is
	// the label "variant".
	Variant string `json:"variant,omitempty"`
	Origin
	// Tool is the program that made the run, and Prices the date of its price table.
	Tool   string            `json:"tool"`
	Prices string            `json:"prices,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	// Folder is the folder of the recording at the time of the run, as an absolute path.
	Folder string `json:"folder,omitempty"`
	// SHA256 is the hash of the recording in hexadecimal, and Bytes its size.
	SHA256 string `json:"sha256,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`

	Verdict     gate.Verdict `json:"verdict"`
	Interrupted bool         `json:"interrupted,omitempty"`
	// Stopped names the budget that ended the run, if any.
	Stopped string `json:"stopped,omitempty"`
	// NotRun names planned scenarios without a trial, and Problems describe damage of the recording.
	NotRun   []string `json:"not_run,omitempty"`
	Problems []string `json:"problems,omitempty"`
	// Scenarios counts scenarios by verdict, and Trials all trials. For an exploration, both count its
	// perturbed runs. An experiment has trials only.
	Scenarios Counts `json:"scenarios"`
	Trials    int    `json:"trials"`
	// CostEUR is the cost of all trials; nil if it is unknown.
	CostEUR *float64 `json:"cost_eur"`
	// LatencyP95 is the 95th percentile of the latencies of all calls, in seconds; nil if it is unknown.
	LatencyP95 *float64 `json:"latency_p95,omitempty"`
}

// Kind is the command that made a run.
type Kind string

// The kinds. Only a Plain run, which may be empty, and a Merged one count in trends and have names such
// as latest. The others perturb scenarios, vary the agent, or judge half-finished edits.
const (
	Plain    Kind = "run"
	Merged   Kind = "merge"
	Watched  Kind = "watch"
	Explored Kind = "explore"
	Compared Kind = "experiment"
	Tuned    Kind = "tune"
)

// HasResults reports whether runs of the kind have results of scenarios, which can be compared.
func (k Kind) HasResults() bool { return k != Explored && k != Compared && k != Tuned }

// Origin describes the source code of a run. All fields may be empty.
type Origin struct {
	// Commit is the full hash of the commit that was checked out.
	Commit string `json:"commit,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Dirty is true if files that git tracks differed from the commit.
	Dirty bool `json:"dirty,omitempty"`
	// Untracked is the number of files and folders that git neither tracks nor ignores. The history's database does not keep it.
	Untracked int `json:"untracked,omitempty"`
	// Command is the command line of the run, without secrets.
	Command string `json:"command,omitempty"`
	// CI is the address of the CI job.
	CI string `json:"ci,omitempty"`
}

// ShortCommit returns the start of a commit for lists, with a + if files differed from it.
func ShortCommit(commit string, dirty bool) string {
	const length = 7
	commit = commit[:min(len(commit), length)]
	if dirty && commit != "" {
		commit += "+"
	}
	return commit
}

// Clean reports whether the commit identifies the source code.
func (o Origin) Clean() bool { return o.Commit != "" && !o.Dirty }

// Counts counts by verdict.
type Counts struct {
	Pass  int `json:"pass"`
	Fail  int `json:"fail"`
	Error int `json:"error"`
	Skip  int `json:"skip"`
}

// Total returns the sum over all verdicts.
func (c Counts) Total() int { return c.Pass + c.Fail + c.Error + c.Skip }

// Result is the result of a scenario in a run.
type Result struct {
	compare.Scenario
	// Findings are the first findings of a scenario that did not pass.
	Findings []gate.Finding
}

// Digest returns the hash of the scenario's files, which changes with its content.
func (r *Result) Digest() string { return r.Expectations["digest"] }

// Settings returns a hash of the scenario's expectations and settings. Unlike Digest it does not
// change with the name of the scenario.
func (r *Result) Settings() string {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(r.Expectations)) {
		if key != "digest" {
			fmt.Fprintf(sum, "%q=%q\n", key, r.Expectations[key])
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Entry is a run with the results of its scenarios, sorted by name.
type Entry struct {
	Run
	Results []Result
}

// Baseline returns the entry as a side of a comparison.
func (e *Entry) Baseline() compare.Baseline {
	b := compare.Baseline{Run: e.Plan, Tool: e.Tool, Prices: e.Prices, Rules: compare.DefaultRules()}
	for i := range e.Results {
		b.Scenarios = append(b.Scenarios, e.Results[i].Scenario)
	}
	return b
}

// Identity names a scenario across runs.
type Identity struct {
	Scenario string `json:"scenario"`
	Variant  string `json:"variant,omitempty"`
}

// String returns the name, and the variant in brackets, if any.
func (i Identity) String() string {
	if i.Variant == "" {
		return i.Scenario
	}
	return i.Scenario + " [" + i.Variant + "]"
}

// NewID returns the id of a run: a hash of its recording and, unless began is zero, of its start and its
// folder, which distinguish runs with equal recordings.
func NewID(recordingSHA256 string, began time.Time, folder string) string {
	text := recordingSHA256
	if !began.IsZero() {
		text = fmt.Sprintf("%s %d %q", recordingSHA256, began.UnixNano(), folder)
	}
	sum := sha256.Sum256([]byte(text))
	return "r" + hex.EncodeToString(sum[:6])
}

// Schemas of the JSON forms of lists of runs and of one run.
const (
	RunsSchema  = "rehearse.history.runs/1"
	EntrySchema = "rehearse.history.run/1"
)

// RunList is the JSON form of a list of runs. Total is the number of runs that the filter allows.
type RunList struct {
	Schema string `json:"schema"`
	Total  int    `json:"total"`
	Runs   []Run  `json:"runs"`
}

// EntryView is the JSON form of a run with its results.
type EntryView struct {
	Schema string `json:"schema"`
	Run
	Results []ResultView `json:"results"`
}

// ResultView is the JSON form of the result of a scenario.
type ResultView struct {
	Name     string          `json:"name"`
	Digest   string          `json:"digest"`
	Verdict  gate.Verdict    `json:"verdict"`
	Status   string          `json:"status"`
	Trials   compare.Trials  `json:"trials"`
	Measures []measure.Value `json:"measures"`
	Findings []gate.Finding  `json:"findings,omitempty"`
}

// View returns the JSON form of an entry.
func (e *Entry) View() EntryView {
	v := EntryView{Schema: EntrySchema, Run: e.Run, Results: []ResultView{}}
	for i := range e.Results {
		r := &e.Results[i]
		out := ResultView{
			Name: r.Name, Digest: r.Digest(), Verdict: r.Verdict, Status: r.Status, Trials: r.Trials, Measures: []measure.Value{},
			Findings: r.Findings,
		}
		for _, m := range r.Measures {
			out.Measures = append(out.Measures, measure.Value{Name: m.Name, Unit: m.Unit, Known: m.Known, Value: m.Value, N: m.N, Interval: m.Interval})
		}
		v.Results = append(v.Results, out)
	}
	return v
}
