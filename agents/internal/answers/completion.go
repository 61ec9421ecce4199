// Package answers reads what an agent answers: whether its work is done, and whether its
// answers repeat themselves. An answer is hostile input: reading takes time linear in its
// length, and nothing here reads a clock or starts anything.
package answers

// State is what an answer says about the work.
type State int

// The states. Continue is the zero value: whatever is unclear is not done.
const (
	Continue State = iota
	Done
	Blocked // a person must decide or help
)

// Verdict is what was read from an answer.
type Verdict struct {
	State State
	// Summary is the agent's own; for Blocked it is what a person should know.
	Summary string
	// Note says why an answer that looks like more is Continue; else empty.
	Note string
}

// CutOff turns Done into Continue with a note, for an answer that was cut off
// before its end: what is missing may have said the opposite. Blocked stays, as
// asking a person is safe either way.
func (v Verdict) CutOff(why string) Verdict {
	if v.State != Done {
		return v
	}
	return Verdict{Note: "the answer completes but was cut off (" + why + ")"}
}
