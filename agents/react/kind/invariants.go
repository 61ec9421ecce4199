package kind

import "github.com/rehearse-dev/rehearse/harness/gate"

// invariants returns the invariants of a ReAct agent.
func invariants() []gate.Invariant {
	return append(
		gate.General(gate.Tolerance{GoodStatuses: []string{"done"}}),
		gate.Invariant{
			ID: "done-is-verified", Words: "a run that is done was verified if the golden run was",
			Expr: `run.status != "done" || react.verified || !golden.react.verified`,
		},
		gate.Invariant{
			ID: "done-is-true", Words: "a run that is done ended with the result of the golden run",
			Expr: `run.status != "done" || ` + gate.EndsAsGolden,
		},
	)
}
