package kind

import "github.com/rehearse-dev/rehearse/harness/gate"

func invariants() []gate.Invariant {
	return append(gate.General(gate.Tolerance{GoodStatuses: []string{"done"}}), gate.Invariant{
		ID: "done-is-true", Words: "a run that is done ended with the complete answer of the golden run",
		Expr: `run.status != "done" || ` + gate.LastReplyComplete,
	})
}
