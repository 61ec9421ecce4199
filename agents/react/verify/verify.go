// Package verify reads and judges the chain of verification that an agent writes
// before its final output: four parts, each bound to what the contract asks for.
package verify

import "github.com/rehearse-dev/rehearse/agents/react/step"

// Part is one of the four questions of document 003.
type Part string

// The parts, in their order.
const (
	Completeness Part = "completeness" // every requirement of the input is treated
	Consistency  Part = "consistency"  // the output agrees with the context
	Correctness  Part = "correctness"  // there is no error of fact or logic
	Constraints  Part = "constraints"  // every constraint is kept
)

// Parts lists them.
func Parts() []Part { return []Part{Completeness, Consistency, Correctness, Constraints} }

// Form is how a part is written.
type Form string

// The forms.
const (
	// Schema names single checks: {question, check: [..], passed}.
	Schema Form = "schema"
	// Tick is a mark and a sentence: "✓ every input is treated".
	Tick Form = "tick"
)

// Answer is what the agent says of one part.
type Answer struct {
	Part Part `json:"part"`
	Form Form `json:"form"`
	// Passed is what the agent claims.
	Passed bool `json:"passed"`
	// Bound is true if what the agent names was found in the contract or in the
	// context, or if the contract asks for nothing in this part. A part that holds and is
	// not bound holds by the agent's word alone, as correctness always does. Judge sets it.
	Bound bool `json:"bound"`
	// Checks are the single things that it names; Text is a tick form's sentence.
	Checks []string `json:"checks,omitempty"`
	Text   string   `json:"text,omitempty"`
	// Pos is where the part stands in the text that was read.
	Pos step.Pos `json:"-"`
}

// Contract is what a verification is checked against.
type Contract struct {
	// Required are the names of the required inputs, Constraints the contract's
	// own. Context are names and facts that the output may refer to: files that were
	// read or written, and what the task names.
	Required    []string
	Constraints []string
	Context     []string
	// Written are the files that the run changed.
	Written []string
}

// Finding is one part that does not hold.
type Finding struct {
	Part    Part   `json:"part"`
	Message string `json:"message"`
}

// Record is a verification with its judgement.
type Record struct {
	Answers  []Answer  `json:"answers"`
	Findings []Finding `json:"findings,omitempty"`
}

// Passed reports whether all four parts hold.
func (r Record) Passed() bool { return len(r.Answers) == len(Parts()) && len(r.Findings) == 0 }

// Verified reports whether all four parts hold, and those that can be compared with the
// contract and the context were: not by the agent's word alone.
func (r Record) Verified() bool { return r.Passed() && len(r.ByWord()) == 0 }

// ByWord returns the parts that hold by the agent's word alone, although the contract or
// the context has something to compare them with. Correctness is not among them: nothing
// in a contract tells what is correct.
func (r Record) ByWord() []Part {
	var parts []Part
	for _, a := range r.Answers {
		if a.Part != Correctness && !a.Bound && r.Holds(a.Part) {
			parts = append(parts, a.Part)
		}
	}
	return parts
}

// Holds reports whether one part holds: it was answered, and there is no finding
// on it.
func (r Record) Holds(p Part) bool {
	for _, f := range r.Findings {
		if f.Part == p {
			return false
		}
	}
	for _, a := range r.Answers {
		if a.Part == p {
			return true
		}
	}
	return false
}
