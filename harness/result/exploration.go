package result

import (
	"regexp"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
)

// ExplorationSchema names the JSON form of an Exploration.
const ExplorationSchema = "rehearse.explore/1"

// Interrupted is the value of Result.Stopped if the user interrupted the exploration.
const UserInterrupt = "interrupted"

// Outcome classifies how a perturbed run ended.
type Outcome string

// The outcomes, from best to worst. Each is about a perturbation that did happen,
// except for Unfired.
const (
	// Survived: it ended as on the golden path, and every invariant holds.
	Survived Outcome = "survived"
	// Degraded: it ended otherwise, and every invariant holds.
	Degraded Outcome = "degraded"
	// Failed: an invariant is broken.
	Failed Outcome = "failed"
	// Unfired: the perturbation could not happen here, so the run shows nothing.
	Unfired Outcome = "unfired"
	// Errored: the harness could not judge the run.
	Errored Outcome = "error"
)

// Family is a group of perturbations that are explored in the same way.
type Family string

// The families, in the order in which they are shown.
const (
	Faults  Family = "fault"   // each call × each fault, once
	Outages Family = "outage"  // each call × each fault that a retry heals, until the agent gives up
	Latency Family = "latency" // each call × each timeout, a tick less and a tick more
	Texts   Family = "text"    // each call × each change of the reply's text
	Crashes Family = "crash"   // each durable write × before, after, disk full
	Users   Family = "user"    // each turn × each thing that people do
	Pairs   Family = "pair"    // two faults, chosen by a covering design
)

// Result is one exploration of one scenario.
type Exploration struct {
	Schema string `json:"schema"`
	// Tool is the program's name and version.
	Tool string `json:"tool"`
	// Scenario, Digest and Seed identify what was explored.
	Scenario string `json:"scenario"`
	File     string `json:"file,omitempty"`
	Digest   string `json:"digest"`
	Seed     uint64 `json:"seed"`
	Agent    string `json:"agent"`
	// Golden are the measures of the unperturbed run.
	Golden measure.Golden `json:"golden"`
	// Calls are the calls of the golden path, so that call n has a name.
	Calls []Call `json:"calls"`
	// Invariants are the expressions that must hold of every run.
	Invariants []string `json:"invariants"`
	// Left lists the families, or kinds of fault, that do not apply to the scenario, each
	// with the reason.
	Left []string `json:"left,omitempty"`
	// Covered describes how many of all pairs of faults and of calls were covered by pairs
	// that happened; empty where none was planned.
	Covered string `json:"covered,omitempty"`
	// Cells are all perturbed runs, in the order of the plan.
	Cells []Cell `json:"cells"`
	// NotRun is the number of planned runs beyond Cells: a budget was used up, or the user
	// interrupted.
	NotRun int `json:"not_run,omitempty"`
	// Stopped is the reason if NotRun is not 0: Interrupted, or the limit that was reached.
	Stopped string `json:"stopped,omitempty"`
}

// Call is a call of the golden path.
type Call struct {
	N       int    `json:"n"`
	Purpose string `json:"purpose,omitempty"`
	// Label distinguishes calls of one purpose, such as a block or a task.
	Label string `json:"label,omitempty"`
}

// Cell is one perturbed run.
type Cell struct {
	Family Family `json:"family"`
	// Perturb are the perturbations in their text form; two for a pair.
	Perturb []string `json:"perturb"`
	Outcome Outcome  `json:"outcome"`
	// Status, Details and Calls describe how the run ended.
	Status  string `json:"status,omitempty"`
	Details string `json:"details,omitempty"`
	Calls   int    `json:"calls"`
	// Fired counts how often the perturbations happened, as the recording proves.
	Fired int `json:"fired"`
	// Findings name the violated invariants (Failed), the perturbation that could not
	// happen (Unfired), or the failure of the harness (Errored).
	Findings []gate.Finding `json:"findings,omitempty"`
	// Shrunk is the smallest perturbation that violates the same invariant, where the cell
	// failed.
	Shrunk []string `json:"shrunk,omitempty"`
	// Command repeats the smallest one.
	Command string `json:"command,omitempty"`
}

// Count counts cells by outcome.
func (r *Exploration) Count() map[Outcome]int {
	n := map[Outcome]int{}
	for i := range r.Cells {
		n[r.Cells[i].Outcome]++
	}
	return n
}

// Families lists all families in the order in which they are shown.
func Families() []Family {
	return []Family{Faults, Outages, Latency, Texts, Crashes, Users, Pairs}
}

// Outcomes lists all outcomes, from best to worst.
func outcomes() []Outcome {
	return []Outcome{Survived, Degraded, Failed, Unfired, Errored}
}

var digits = regexp.MustCompile(`[0-9]+`)

// violationRule is the rule of findings whose message is always the same, and whose
// evidence names the violated invariant.
const violationRule = "promise"

// FindingClass returns a key that two findings share if they report the same of two runs: only
// the observed values differ, and the numbers in them.
func FindingClass(f gate.Finding) string {
	class := f.Rule + "\x00" + f.Message
	if f.Rule == violationRule {
		class += "\x00" + digits.ReplaceAllString(f.Evidence, "#")
	}
	return class
}
