package result

import (
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// ExplorationSchema names the JSON form of an Exploration.
const ExplorationSchema = "rehearse.explore/1"

// UserInterrupt is the value of Exploration.Stopped if the user interrupted the exploration.
const UserInterrupt = "interrupted"

// Outcome classifies how a perturbed run ended.
type Outcome string

// The outcomes, from best to worst. All but Unfired require that the perturbation happened.
const (
	// Survived: it ended as on the golden path without violating an invariant.
	Survived Outcome = "survived"
	// Degraded: it ended differently without violating an invariant.
	Degraded Outcome = "degraded"
	// Failed: it violated an invariant.
	Failed Outcome = "failed"
	// Unfired: the perturbation could not happen, so the run tests nothing.
	Unfired Outcome = "unfired"
	// Errored: the harness could not judge the run.
	Errored Outcome = "error"
)

// Family is a group of perturbations that are explored in the same way.
type Family string

// The families, in the order in which they are shown.
const (
	Faults  Family = "fault"   // each call × each fault, once
	Outages Family = "outage"  // each call × each fault that a retry recovers from, until the agent gives up
	Latency Family = "latency" // each call × each timeout, a tick less and a tick more
	Texts   Family = "text"    // each call × each change of the reply's text
	Tools   Family = "tool"    // each call of a tool at an MCP server × each fault
	Crashes Family = "crash"   // each durable write × before, after, disk full
	Users   Family = "user"    // each turn × each thing that people do
	Pairs   Family = "pair"    // two faults, chosen by a covering design
)

// Exploration is the result of exploring one scenario.
type Exploration struct {
	Schema string `json:"schema"`
	// Tool is the program's name and version.
	Tool string `json:"tool"`
	// Scenario, Digest and Seed identify the explored scenario.
	Scenario string `json:"scenario"`
	File     string `json:"file,omitempty"`
	Digest   string `json:"digest"`
	Seed     uint64 `json:"seed"`
	Agent    string `json:"agent"`
	// Golden contains the measures of the unperturbed run.
	Golden measure.Golden `json:"golden"`
	// Calls are the calls of the golden path.
	Calls []Call `json:"calls"`
	// Invariants are the expressions that must be true for every run.
	Invariants []string `json:"invariants"`
	// Left lists the families, or kinds of fault, that do not apply to the scenario, each with the
	// reason.
	Left []string `json:"left,omitempty"`
	// Covered describes the coverage of all pairs of faults and of calls by pairs that happened;
	// empty if none was planned.
	Covered string `json:"covered,omitempty"`
	// Cells are the perturbed runs in plan order.
	Cells []Cell `json:"cells"`
	// NotRun is the number of planned runs that were not made, because a limit was reached or the
	// user interrupted.
	NotRun int `json:"not_run,omitempty"`
	// Stopped is the reason if NotRun is not 0: UserInterrupt or the reached limit.
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
	// Perturb contains the perturbations in their text form; two for a pair.
	Perturb []string `json:"perturb"`
	Outcome Outcome  `json:"outcome"`
	// Status, Details and Calls describe the end of the run.
	Status  string `json:"status,omitempty"`
	Details string `json:"details,omitempty"`
	Calls   int    `json:"calls"`
	// Fired counts how often the perturbations happened, according to the recording.
	Fired int `json:"fired"`
	// Findings name the violated invariants (Failed), the perturbation that could not
	// happen (Unfired), or the failure of the harness (Errored).
	Findings []gate.Finding `json:"findings,omitempty"`
	// Shrunk is the smallest perturbation that violates the same invariant, for a failed cell.
	Shrunk []string `json:"shrunk,omitempty"`
	// Command repeats the smallest perturbation.
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

// Description describes the perturbations of a family.
func (f Family) Description() string {
	switch f {
	case Faults:
		return "each call × each fault that its backend can show"
	case Outages:
		return "each call × each fault that a retry recovers from, until the agent gives up"
	case Latency:
		return "each call × each time limit, one tick below and one above"
	case Texts:
		return "each call × each change of the reply: truncated, reformatted, translated, padded"
	case Tools:
		return "each call of a tool at a scripted MCP server × a failed result, no result, a broken message, an error, the server's end"
	case Crashes:
		return "each durable write × a crash before or after it, or a full disk; then the agent is resumed"
	case Users:
		return "each turn × each action of a user: send twice, reload, answer too early, send nothing or too much"
	case Pairs:
		return "two faults in one run, chosen so that few runs cover many combinations"
	}
	return ""
}

// Families returns all families in the order in which they are shown.
func Families() []Family {
	return []Family{Faults, Outages, Latency, Texts, Tools, Crashes, Users, Pairs}
}

// outcomes returns all outcomes, from best to worst.
func outcomes() []Outcome {
	return []Outcome{Survived, Degraded, Failed, Unfired, Errored}
}

var digits = lazyregexp.New(`[0-9]+`)

// violationRule is the rule of findings with a constant message, whose evidence names the violated
// invariant.
const violationRule = "promise"

// FindingClass returns a key that is equal for findings that differ only in the observed values.
func FindingClass(f gate.Finding) string {
	class := f.Rule + "\x00" + f.Message
	if f.Rule == violationRule {
		class += "\x00" + digits().ReplaceAllString(f.Evidence, "#")
	}
	return class
}
