// Package verify reads and judges the chain of verification that an agent writes
// before its final output: four parts, each bound to what the contract asks for.
package verify

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

// Answer is what the agent says of one part.
type Answer struct {
	Part Part `json:"part"`
	// Passed is what the agent claims.
	Passed bool `json:"passed"`
	// Checks are the single things that it names; Text is a tick form's sentence.
	Checks []string `json:"checks,omitempty"`
	Text   string   `json:"text,omitempty"`
}

// Contract is what a verification is held against.
type Contract struct {
	// Required are the names of the required inputs, Constraints the contract's
	// own. Context are names and facts that the output may refer to: files that were read.
	Required    []string
	Constraints []string
	Context     []string
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
