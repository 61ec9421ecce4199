// Package persist carries a plan of tasks through to its end over any worker: it
// checks before it stops, goes on when it should, saves as it goes, survives a
// kill at any instant, and says honestly how it ended.
//
// # One pass
//
// A run is a loop, not a recursion. Each pass looks at the context and at the signs
// of a premature stop, and makes one move, which package state decides from nothing
// but the records so far:
//
//   - An attempt at the next task. Its intent is on the disk before it begins, its
//     outcome after it, in one write with the intent of the next.
//   - A check of everything: when no task can be run, and every five tasks that were
//     done.
//   - A round, when checks fail: tasks are made of them, the most critical first, and
//     those that failed are checked again after each. Tasks that had failed for good
//     are tried once more. A plan that still has tasks goes on with them; without any,
//     a round that changed nothing, and one round too many, end the run.
//   - A segment, when the tool calls of the one before are used up. A task that is
//     split by it goes on and has not failed.
//   - The end.
//
// # What wins
//
// At any time: the state that cannot be kept (error), the user's interrupt
// (interrupted), the budget and then the time (budget). What is done by then counts;
// an attempt that one of them cut off is made again by the next run, under the same
// key. When nothing more can be done, after a full check, the first of these:
//
//  1. a task that needs a person (escalated)
//  2. a task that failed for good, cannot be done or cannot be reached (blocked)
//  3. tool calls that are used up, or a check that fails (capped)
//  4. a check that could not be made (escalated)
//  5. complete
//
// # Time
//
// All of it is that of Deps.Clock. Three clocks run: since the last activity (a task
// without any for ten minutes is ended, and the next one taken), since the last
// checkpoint (every five minutes, also while a task runs) and since a task was done
// (two hours of activity without that end an attempt, too). The run's own time goes
// on where a process left it; what a killed one did after its last record or
// checkpoint is not known and not counted.
//
// # Durability
//
// Whatever instant the process is killed at, the next run has the state of the last
// write that succeeded, runs no task again whose outcome was written, and ends with
// the journal of an undisturbed run, but for times. A result tells what was written,
// and no more.
//
// # Safety
//
// Answers, details and what probes print are a model's or a program's texts: they are
// bounded in the records, and quoted in prompts. A panic of a worker is a failed
// attempt, one of a probe or of the judge leaves a check unknown. The memory that a
// run needs grows with the number of tasks, and not with what they do.
package persist
