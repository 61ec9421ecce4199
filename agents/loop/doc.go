// Package loop is the runner loop: it calls a backend with a prompt again and
// again until the answer states that the work is done, or a guard stops it.
//
// # One iteration
//
// Each iteration is one call, failed or not, and leaves one entry in the
// transcript. In this order: entry, OnIteration, no-progress guards, completion.
// The prompt is sent as it is given; nothing about the marker is added to it. In
// json mode too the answer may be prose, of which the last JSON object counts,
// so the backend is not asked for JSON alone.
//
// # Precedence
//
// Where several ends are possible after one answer, the first of these decides:
//
//  1. the user's interrupt (interrupted)
//  2. the budget (budget) and then time (timeout), even if the answer completes
//  3. a hand-over to a person (blocked)
//  4. the stop guard: a completion that it refuses does not end the run; at the
//     limit of continuations the run ends capped, never done, and at the limit of
//     refusals that leave the same steps no-progress
//  5. completion (done)
//  6. no progress (no-progress)
//  7. the iteration limit (max-iterations)
//
// An answer that completes for the first time ends done even if a no-progress
// guard fires, also at a limit of 1. An answer that the stop guard has refused
// and that comes again counts as no progress if a guard has fired, and the stop
// guard is not asked again.
//
// After a failed call: interrupt, budget, time, then the circuit breaker, the
// repeated error, the error limit, the iteration limit. A failed call is no
// answer: it neither extends nor ends a run of equal answers. An answer ends
// every run of errors.
//
// # Todos
//
// With Settings.Todos the steps of a refused completion become todos, and a
// completion may stop only if all of them are done, or if it asks something that
// only the user can decide:
//
//   - A todo is done only if an answer reports it as done, by stop.Done.
//   - A todo that the answer does not mention, or lists again, perhaps in other
//     words, is open again.
//   - A todo that the answer denies ("I could not deploy") has failed. One by one,
//     those that depend on it are blocked until the next refusal.
//   - An answer that is empty, was cut off or is not a completion settles nothing.
//
// Steps are a model's text. They are quoted in the prompt as the agent's own words,
// without control characters and cut to a length, and give no permission. Steps that
// only the user decides on (stop.Step.NeedsUser) do not become todos.
//
// # Time and memory
//
// All time is that of Deps.Clock. A call that hangs is ended by its context; a
// backend that ignores its context cannot be ended from here. The transcript
// keeps each prompt and answer once for as long as the Result lives, so memory
// grows with MaxIterations times the length of an answer; no guard keeps more
// than the last four answers and those that the stop guard refused.
package loop
