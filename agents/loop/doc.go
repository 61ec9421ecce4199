// Package loop calls a backend with a prompt until the answer claims that the work is done, or
// a guard stops the run.
//
// # One iteration
//
// Each iteration is one call, successful or not, with one entry in the transcript. The order is:
// entry, OnIteration, no-progress guards, completion. In json mode, the answer may be prose; its
// last JSON object counts.
//
// # Contract
//
// Settings.Contract explains to the agent how to report completion, remaining work and the need for
// a person. It follows the task, the demand after a refused completion, and the prompt that
// continues an unfinished answer, with the note why an answer that seems finished does not count.
//
// # Sessions
//
// With history "session", the default for command-line agents, a call continues the session of the call
// before and sends only the next prompt: the continue prompt after an unfinished answer, the steps after a
// refused completion. After a failed call the same prompt is sent again with a note; after two in a row the
// next call begins a new session. A new session gets the whole prompt: the task, and the steps of a
// refusal. So does an agent that cannot continue sessions, and one that no longer has the session.
//
// # Precedence
//
// If a run could end for several reasons after an answer, the first of these decides:
//
//  1. the user's interrupt (interrupted)
//  2. the budget (budget) and then time (timeout), even if the answer completes
//  3. a hand-over to a person (blocked)
//  4. the stop guard: a refused completion does not end the run; at the limit of continuations
//     the run ends capped, and at the limit of refusals that leave the same steps no-progress
//  5. completion (done), unless a check does not confirm it; at the limit of such completions the run
//     ends capped
//  6. no progress (no-progress)
//  7. the iteration limit (max-iterations)
//
// An answer that completes for the first time ends the run as done even if a no-progress guard
// fires. A refused answer that is repeated is not judged again if a no-progress guard has fired:
// the run ends.
//
// After a failed call: interrupt, budget, time, then the circuit breaker, the
// repeated error, the error limit, the iteration limit. A failed call neither extends nor ends a
// series of equal answers. An answer ends every series of errors.
//
// # Todos
//
// With Settings.Todos the steps of a refused completion become todos. A completion ends the run
// only if all of them are done, or if it asks for a decision of the user:
//
//   - A todo is done if an answer reports it as done; see stop.Done.
//   - A todo that the answer omits, or lists again even in other words, is open again.
//   - A todo that the answer denies ("I could not deploy") has failed. Todos that depend on it
//     are blocked until the next refusal.
//   - An answer that is empty, cut off or not a completion changes no todo.
//
// Steps are the text of a model. The prompt quotes them as the agent's own words, without control
// characters and of limited length. Steps on which only the user decides (stop.Step.NeedsUser) do
// not become todos.
//
// # Time and memory
//
// All times are those of Deps.Clock. A call that hangs is ended by its context, unless the backend
// ignores it. The transcript has each prompt and answer once, so memory grows with MaxIterations
// times the length of an answer; guards keep only the last four answers and the refused ones.
package loop
