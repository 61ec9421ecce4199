package step

import "slices"

// Part is one of the four questions of a verification (document 003).
type Part string

// The parts, in their order.
const (
	Completeness Part = "completeness" // every requirement of the input is treated
	Consistency  Part = "consistency"  // the output agrees with the context
	Correctness  Part = "correctness"  // facts and logic contain no error
	Constraints  Part = "constraints"  // every constraint is met
)

var parts = []Part{Completeness, Consistency, Correctness, Constraints}

// The values of Claim.Form.
const (
	schemaForm = "schema" // a mapping: {question, check: [..], passed}
	tickForm   = "tick"   // a mark and a sentence: "✓ every input is treated"
)

// Claim is the agent's claim about one part.
type Claim struct {
	Part Part   `json:"part"`
	Form string `json:"form"`
	// Passed reports whether the agent claims that the part holds.
	Passed bool `json:"passed"`
	// Bound reports whether the claim refers to the requirements or the context, or the
	// requirements do not concern this part. Otherwise the claim rests on the word of the
	// agent, which is always true of correctness. JudgeVerification sets it.
	Bound bool `json:"bound"`
	// Checks are the items that the claim lists; Text is the sentence of a tick form.
	Checks []string `json:"checks,omitempty"`
	Text   string   `json:"text,omitempty"`
	// Pos is the position of the part in the verification.
	Pos Pos `json:"-"`
}

// Requirements are compared with the claims of a verification.
type Requirements struct {
	// Inputs are the names of the required inputs.
	Inputs      []string
	Constraints []string
	// Context are the names and facts that the output may refer to: the files that were
	// read or written, and the text of the task.
	Context []string
	// Written are the files that the run changed.
	Written []string
}

// Finding is the reason why a part does not hold.
type Finding struct {
	Part    Part   `json:"part"`
	Message string `json:"message"`
}

// Verification is a verification with its judgement.
type Verification struct {
	Claims   []Claim   `json:"answers"`
	Findings []Finding `json:"findings,omitempty"`
}

// Passed reports whether all four parts hold.
func (v Verification) Passed() bool { return len(v.Claims) == len(parts) && len(v.Findings) == 0 }

// Verified reports whether all four parts hold on more evidence than the word of the agent.
func (v Verification) Verified() bool { return v.Passed() && len(v.ByWord()) == 0 }

// ByWord returns the parts that only hold by the word of the agent although they could be compared with
// the requirements or the context, so never correctness.
func (v Verification) ByWord() []Part {
	var all []Part
	for _, c := range v.Claims {
		if c.Part != Correctness && !c.Bound && v.Holds(c.Part) {
			all = append(all, c.Part)
		}
	}
	return all
}

// Holds reports whether a part was answered and has no finding.
func (v Verification) Holds(p Part) bool {
	return v.claim(p) != nil && !slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Part == p })
}

// claim returns the claim about a part, or nil.
func (v Verification) claim(p Part) *Claim {
	for i := range v.Claims {
		if v.Claims[i].Part == p {
			return &v.Claims[i]
		}
	}
	return nil
}
