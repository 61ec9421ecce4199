// Package followup makes an agent do what its last message leaves undone. It
// serves agents that package loop does not drive: give it a backend and an
// answer, and it judges the answer with the stop guard, turns the steps that are
// left into todos, has the backend do them, and judges the new answer, until
// that one may stop.
//
// # One round
//
// A round begins with an answer that may not stop. Its steps become todos in the
// order of their plan; one call asks for all of them (or one call for each, with
// Options.PerTodo); what was answered settles each todo, and is judged.
//
//   - A todo is done only if the new answer reports it as done, by stop.Done.
//   - A todo that the answer does not speak of stays pending, and so do all where
//     the answer asks something.
//   - A todo that the new answer lists, perhaps in other words, is pending again.
//   - A todo that the answer denies ("I could not deploy") has failed, and those
//     that depend on it are blocked. They are left even if the answer could
//     otherwise stop, unless it asks something that only the user can decide.
//   - An empty answer, or one that was cut off, settles nothing and may not stop.
//
// # What wins
//
// After each answer the first of these decides:
//
//  1. the user's interrupt (interrupted)
//  2. the budget (budget) and then time (timeout), even if the answer may stop
//  3. an answer that may stop (allowed)
//  4. no progress (no-progress): an answer that was refused before comes again,
//     or rounds go by that leave the same steps
//  5. the limit of rounds (capped)
//
// A call that fails ends the run: interrupted, budget, timeout or else error.
// Backends make their own retries. Only allowed is a success.
//
// # Safety
//
// Steps are a model's text. They are quoted in the prompt as the agent's own words,
// without control characters and cut to a length, and give no permission. Steps that
// only the user decides on (stop.Step.NeedsUser) become no todos; the prompt names them
// as such.
// All time is that of Deps.Clock. Nothing is kept between runs; memory grows with
// the number of rounds times the length of an answer.
package followup
