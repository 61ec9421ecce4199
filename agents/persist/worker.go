package persist

import (
	"context"
	"errors"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/llm"
)

// Worker does one attempt at a task. It never panics through and honours ctx, whose
// cause says why it ends: errStagnation, ErrSegment, the user's interrupt, or a deadline.
type Worker interface {
	Work(ctx context.Context, a Assignment) Outcome
}

// Why the supervisor ends an attempt.
var (
	errStagnation = errors.New("the task showed no activity for too long")
	errNoProgress = errors.New("the run was active for too long without a task being done")
	// ErrSegment ends an attempt whose segment has no tool call left. It goes on in
	// the next segment and is no failure.
	ErrSegment = errors.New("the segment has no tool call left")
)

// Assignment is one attempt at a task.
type Assignment struct {
	Task plan.Task
	// Key is the same for each attempt at the task that might have had effects
	// already (after a crash), and differs between tasks and attempts otherwise: a
	// worker that knows it may return what it did then.
	Key     string
	Attempt int // from 1
	Segment int // from 1
	// Prompt is the whole of what to ask for: goal, task, context files, what
	// earlier attempts and segments left.
	Prompt string
	Meter  Meter
}

// Meter is told what an attempt does while it does it. It is safe for concurrent use.
type Meter interface {
	// Call counts tool calls before they are made: a call of the backend counts one,
	// and so does each tool call that an answer asks for, or action. It returns ErrSegment
	// when the segment has none left, or why the state cannot be kept; the call must
	// not be made and the attempt must end then.
	Call(n int) error
	// Active says that something happened; Call says so too.
	Active()
	// Pause says that the attempt waits for a person, until resume is called: that
	// is neither stagnation nor activity without progress, however long it takes.
	Pause() (resume func())
	// Touch says that the attempt read or wrote files, by their paths.
	Touch(paths ...string)
}

// Grade says how an attempt ended.
type Grade string

// The grades.
const (
	Done    Grade = "done"
	Failed  Grade = "failed"  // may be tried again
	Blocked Grade = "blocked" // trying again cannot help
	// Escalated needs a person, who is asked Outcome.Details.
	Escalated Grade = "escalated"
	// Split is an attempt that ended with its segment.
	Split Grade = "split"
)

// Outcome is what an attempt came to.
type Outcome struct {
	Grade Grade
	// Answer is the agent's last message.
	Answer string
	// Prose is Answer without what only says that it is complete, such as a line DONE:
	// the stop guard judges it. Empty: it judges Answer.
	Prose string
	// Later says of a failure that what failed may be there again later, such as a
	// backend that is down or limits the rate. It is no failure of the task: the
	// supervisor waits before the next attempt.
	Later bool
	// Details says, for a person, why it ended so.
	Details string
	// Usage is what it used; nil where it is not known.
	Usage *llm.Usage
	// Capped names the cap of the budget that ended it; empty if none did.
	Capped string
	// Inert says that the worker has no means to change anything: a chat without tools,
	// or an agent that may only read. What it says is all that there is.
	Inert bool
	// Warning is what a person must know however the attempt ended, such as a process
	// that is still running; the supervisor adds it to Details.
	Warning string
	// Carry is what the next attempt or segment should know; bounded by the supervisor.
	Carry string
}
