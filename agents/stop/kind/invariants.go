package kind

import "github.com/rehearse-dev/rehearse/harness/gate"

// invariants returns the invariants of a host that asks the stop hook.
func invariants() []gate.Invariant {
	return append(gate.General(gate.Tolerance{GoodStatuses: []string{"stopped"}}), gate.Invariant{
		ID: "done-is-true", Words: "the host stops at the answer of the golden run, or at a cut one of which it does not tell the hook",
		Expr: `run.status != "stopped" ||
  script.fired.exists(fault, fault.contains("empty-text") || fault.contains("finish-length")) || ` + gate.ShowsLastReply,
	})
}
