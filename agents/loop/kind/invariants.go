package kind

import "github.com/rehearse-dev/rehearse/harness/gate"

// invariants returns the invariants of the loop.
func invariants() []gate.Invariant {
	return append(gate.General(gate.Tolerance{GoodStatuses: []string{"done"}}), gate.Invariant{
		ID: "done-is-true", Words: "a run that is done ended with the complete answer of the golden run",
		Expr: `run.status != "done" || ` + gate.LastReplyComplete,
	})
}
