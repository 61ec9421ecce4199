package kind

import "github.com/rehearse-dev/rehearse/harness/gate"

// invariants returns the invariants of a supervised plan. A perturbation may cause another attempt,
// which may take several calls.
func invariants() []gate.Invariant {
	return append(
		gate.General(gate.Tolerance{
			ExtraCalls: 5, Repeated: "golden.supervise.longest", RepeatedWords: "another attempt at a task",
			GoodStatuses: []string{"complete"},
		}),
		gate.Invariant{
			ID: "complete-is-true", Words: "a run that is complete has no open task",
			Expr: `run.status != "complete" || supervise.open == 0`,
		},
		gate.Resumable,
		gate.Invariant{
			ID: "checked-at-the-end", Words: "a run that is complete has no check that failed last",
			Expr: `run.status != "complete" || supervise.last.all(name, supervise.last[name] != "fail")`,
		},
		gate.Invariant{
			ID: "no-task-left-out", Words: "a run that is complete has done the same tasks of the plan as the golden run",
			Expr: `run.status != "complete" || supervise.planned >= golden.supervise.planned`,
		},
		gate.Invariant{
			ID: "done-is-answered",
			Words: "a run that is complete had as many answered calls as the golden run, " +
				"unless that had rounds, whose tasks may be dropped",
			Expr: `run.status != "complete" || golden.supervise.derived > 0 || golden.supervise.rounds > 0 ||
  calls.total - calls.failed >= golden.calls.total - golden.calls.failed`,
		},
		gate.Invariant{
			ID: "journal-undisturbed", Words: "a run that is complete after crashes has the journal of the golden run",
			Expr: `run.status != "complete" || size(run.struck) == 0 || size(script.fired) > 0 ||
  !run.struck.all(blow, blow.contains(":crash-")) || supervise.journal == golden.supervise.journal`,
		},
	)
}
