// Package persist carries out a plan of tasks with any worker. It checks the work before it
// stops, continues while checks fail, saves its progress, survives a kill at any instant, and
// reports how the run ended.
//
// # One pass
//
// A run is a loop. Each pass looks at the files in context and at the signs of a premature
// stop, and makes one move, which package state decides from the records alone:
//
//   - An attempt at the next task. Its intent is on the disk before it begins, and its outcome
//     afterwards, in one write with the intent of the next attempt.
//   - A check of everything: when no task can be run, and every five tasks that were done.
//   - A round, when checks fail: they become tasks, the most critical first, and the failed
//     checks are made again after each. Tasks that had failed for good are tried once more.
//     A plan that has more tasks continues with them; without any, a round that changed
//     nothing, or one round too many, ends the run.
//   - A new segment, when the tool calls of the last one are used up. A task that is split in
//     this way continues and has not failed.
//   - The end.
//
// # Precedence
//
// The run ends at any time if its state cannot be saved (error), the user interrupts it
// (interrupted), or the budget or the time is used up (budget). The tasks that are done by
// then count; the next run repeats an interrupted attempt under the same key. When nothing
// more can be done, the first of these decides, after a full check:
//
//  1. a task needs a person (escalated)
//  2. a task failed for good, cannot be done or cannot be reached (blocked)
//  3. the tool calls are used up, or a check fails (capped)
//  4. a check could not be made (escalated)
//  5. complete
//
// # Time
//
// All time is that of Deps.Clock. Three timers run: since the last activity (a task without
// any for ten minutes is ended, and the next one begins), since the last checkpoint (every
// five minutes, also while a task runs) and since a task was done (two hours of activity
// without that end an attempt, too). The time of a run continues in the next process; the time
// that a killed process worked after its last record or checkpoint is not counted.
//
// # Durability
//
// Whenever the process is killed, the next run finds the state of the last successful write,
// repeats no task whose outcome was written, and ends with the journal of an uninterrupted
// run, except for times. A result reports only what was written.
//
// # Safety
//
// Answers, details and outputs of probes come from a model or a program: they are bounded in
// the records and quoted in prompts. A panic of a worker fails the attempt; a panic of a probe
// or of the judge leaves a check unknown. A run needs memory in proportion to the number of
// tasks, not to their output.
package persist
