// Package persist executes a plan of tasks with any worker. It checks the work before it stops,
// continues while checks fail, saves its progress, and survives a kill at any instant.
//
// # One pass
//
// A run is a loop. Each pass evicts unused files from the context, looks for signs of a premature
// stop, and makes one move, which package state derives from the records alone:
//
//   - An attempt at the next task. Its intent is written to disk before it begins; its outcome
//     is written together with the intent of the next attempt.
//   - All checks: when no task can be run, and after every five tasks.
//   - A round, when checks fail. They become tasks, the most critical first, and failed checks
//     are repeated after each task. Failed tasks are tried once more. If the plan has no more
//     tasks, a round without effect or the limit of rounds ends the run.
//   - A new segment, when the tool calls of the last one are used up. A task that was
//     interrupted by the end of a segment continues; it has not failed.
//   - The end.
//
// # Precedence
//
// The run ends at once if its state cannot be saved (error), the user interrupts it
// (interrupted), or the budget or the time is used up (budget). The next run repeats an
// interrupted attempt with the same key. When no further move is possible, the first of these
// decides, after a full check:
//
//  1. a task needs a person (escalated)
//  2. a task failed, is blocked or cannot be reached (blocked)
//  3. the tool calls are used up, or a check fails (capped)
//  4. a check is unknown (escalated)
//  5. complete
//
// # Time
//
// All times are those of Deps.Clock. There are three timers: a task without activity for ten
// minutes is ended and the next one begins; a checkpoint is saved every five minutes, also
// during a task; and an attempt is ended after two hours in which no task was done. The time of
// a run continues in the next process. The time of a killed process after its last record or
// checkpoint is lost.
//
// # Durability
//
// After a kill at any instant, the next run begins with the state of the last successful write,
// repeats no task whose outcome was written, and ends with the same journal as an uninterrupted
// run, except for times. A result reports only what was written.
//
// # Safety
//
// Answers, details and outputs of probes come from a model or a program. Records limit their size,
// and prompts quote them. A panic of a worker fails the attempt; after a panic of a probe or of
// the judge, the check is unknown. Memory grows with the number of tasks, not with their output.
package persist
