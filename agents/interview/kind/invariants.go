package kind

import "github.com/rehearse-dev/rehearse/harness/gate"

// invariants returns the invariants of an interview. A perturbation may cost one call,
// the one that is repeated.
func invariants() []gate.Invariant {
	return append(
		gate.General(gate.Tolerance{ExtraCalls: 1, GoodStatuses: []string{"finished", "left"}}),
		gate.Invariant{
			ID: "finished-is-true", Words: "a finished interview has the profile of the golden one",
			Expr: `run.status != "finished" || ` + gate.EndsAsGolden,
		},
		gate.Invariant{
			ID: "no-answer-lost",
			Words: "a finished interview holds every answer of the golden one, or, where texts of the prompts replaced questions, " +
				"every answer that was given",
			Expr: `run.status != "finished" || interview.answers >=
  (interview.fallbacks > golden.interview.fallbacks ? interview.answered : golden.interview.answers)`,
		},
		gate.Resumable,
		gate.Invariant{ID: "no-answer-twice", Words: "no answer is kept twice", Expr: `interview.answers <= golden.interview.answers`},
		gate.Invariant{ID: "queued-questions-are-free", Words: "no call is made for a queued question", Expr: `interview.queued_calls == 0`},
		gate.Invariant{
			ID: "nothing-asked-twice", Words: "a question is only asked for again after a call that did not serve",
			Expr: `calls.total <= golden.calls.total + run.perturbed + interview.transport_retries + interview.validation_retries + interview.lost`,
		},
	)
}
