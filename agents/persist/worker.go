package persist

import (
	"context"
	"errors"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/llm"
)

// Worker makes one attempt at a task. It ends when ctx does, whose cause is ErrSegment, a
// stalled task, the user's interrupt, or a deadline.
type Worker interface {
	Work(ctx context.Context, a Assignment) Outcome
}

// ErrSegment ends an attempt when its segment has no tool call left. The task continues in the
// next segment and has not failed.
var ErrSegment = errors.New("the segment has no tool call left")

// The causes by which the watchdog ends an attempt.
var (
	errStagnation = errors.New("the task showed no activity for too long")
	errNoProgress = errors.New("the run was active for too long without a task being done")
)

// Probe answers one check. It ends when ctx does. The supervisor sets the name and the duration.
type Probe func(ctx context.Context) plan.CheckResult

// Assignment is one attempt at a task.
type Assignment struct {
	Task plan.Task
	// Key identifies the attempt. After a crash an attempt that may have had effects is made
	// again with the same key, so that a worker can return its earlier result.
	Key     string
	Attempt int // from 1
	Segment int // from 1
	// Prompt is the complete request: goal, task, files in context, and notes of earlier
	// attempts and segments.
	Prompt string
	Meter  Meter
}

// Meter receives the activity of an attempt. It is safe for concurrent use.
type Meter interface {
	// Call counts n tool calls before they are made: each call of the backend, tool call of an
	// answer, and action counts as one. It returns ErrSegment if the segment has no call left,
	// or the error of saving the state; then the call must not be made, and the attempt must
	// end.
	Call(n int) error
	// Active reports activity. Call counts as activity, too.
	Active()
	// Pause reports that the attempt waits for a person, until resume is called. That time
	// counts neither as stagnation nor as activity without progress.
	Pause() (resume func())
	// Touch reports files that the attempt read or wrote.
	Touch(paths ...string)
}

// Grade is how an attempt ended.
type Grade string

// The grades.
const (
	Done    Grade = "done"
	Failed  Grade = "failed"  // may be tried again
	Blocked Grade = "blocked" // trying again cannot help
	// Escalated is an attempt that needs a person, who is asked Outcome.Details.
	Escalated Grade = "escalated"
	// Split is an attempt that ended with its segment.
	Split Grade = "split"
)

// Outcome is the result of an attempt.
type Outcome struct {
	Grade Grade
	// Answer is the agent's last message.
	Answer string
	// Prose is Answer without its completion marker, such as a line DONE. The stop guard
	// judges it; default: Answer.
	Prose string
	// Later is true for a failure that may pass, such as a backend that is down or limits the
	// rate. It does not count against the task: the supervisor waits before the next attempt.
	Later bool
	// Details describe, for a person, why the attempt ended this way.
	Details string
	// Usage is nil if it is unknown.
	Usage *llm.Usage
	// Capped names the cap of the budget that ended the attempt, if one did.
	Capped string
	// Inert is true if the worker cannot change anything, such as a chat without tools or an
	// agent that may only read. Its answer is its only effect.
	Inert bool
	// Warning is a fact that a person must know however the attempt ended, such as a process
	// that is still running. The supervisor adds it to Details.
	Warning string
	// Carry is a note to the next attempt or segment. The supervisor bounds its size.
	Carry string
}
