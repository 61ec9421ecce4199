package persist

import (
	"context"
	"errors"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/llm"
)

// Worker attempts tasks. An attempt ends with ctx, whose cause is ErrSegment, a stalled task, an
// interrupt of the user, or a deadline.
type Worker interface {
	Work(ctx context.Context, a Assignment) Outcome
}

// ErrSegment ends an attempt when its segment has no tool call left. The task has not failed; it
// continues in the next segment.
var ErrSegment = errors.New("the segment has no tool call left")

// The causes of attempts that the watchdog ended.
var (
	errStagnation = errors.New("the task showed no activity for too long")
	errNoProgress = errors.New("the run was active for too long without a task being done")
)

// Probe answers one check. It ends when ctx does. The supervisor sets the name and the duration.
type Probe func(ctx context.Context) plan.CheckResult

// Assignment is one attempt at a task.
type Assignment struct {
	Task plan.Task
	// Key identifies the attempt. An attempt that is repeated after a crash has the same key, so
	// that a worker can return its earlier result.
	Key     string
	Attempt int // from 1
	Segment int // from 1
	// Prompt is the complete request: goal, task, files in context, and notes of earlier
	// attempts and segments.
	Prompt string
	// Session is the session that the attempt continues; nil for a new one. Turn is the request to it, with
	// what the session does not contain. A worker that cannot continue the session uses Prompt.
	Session *Session
	Turn    string
	// Began, if set, must be called when the agent begins a session.
	Began func(Session)
	Meter Meter
	// Log, if set, receives the entries of the attempt's transcript. It is safe for concurrent use.
	Log func(Entry)
}

// Entry is a line of the transcript of an attempt.
type Entry struct {
	// Kind is "begin", with the prompt as Text; "session", a session that the agent began, with its id as
	// Name; "call", a call of the backend; "tool", a tool call of a command-line agent; "event", an event of
	// a loop or an agent; "output", the output of a command; or "end", with the answer as Text.
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`
	// Key identifies the attempt, for "begin".
	Key string `json:"key,omitempty"`
	// Name is that of a tool or an event, the model of a call, or the grade of the end.
	Name string `json:"name,omitempty"`
	// Request has the messages of a call that the call before did not have.
	Request []llm.Message `json:"request,omitempty"`
	Text    string        `json:"text,omitempty"`
	// Tools are the tool calls of an answer.
	Tools []llm.ToolCall `json:"tools,omitempty"`
	// Denials are the refused tool calls of an agent.
	Denials []llm.Denial `json:"denials,omitempty"`
	Usage   *llm.Usage   `json:"usage,omitempty"`
	// Used is the usage of the attempt, for "end".
	Used *Used `json:"used,omitempty"`
	// Details are those of an event or of the end, the error of a call, or the standard error of a command.
	Details string `json:"details,omitempty"`
}

// Meter receives the activity of an attempt. It is safe for concurrent use.
type Meter interface {
	// Call counts n tool calls before they are made: calls of the backend, tool calls of an
	// answer, and actions. It returns ErrSegment if the segment has no call left, or an error if
	// the state cannot be saved. Then the worker must not make the call, and must end the attempt.
	Call(n int) error
	// Active reports activity. Call counts as activity, too.
	Active()
	// Pause reports that the attempt waits for a person until resume is called. The pause does not
	// count as stagnation or as time without progress.
	Pause() (resume func())
	// Touch reports files that the attempt read or wrote.
	Touch(paths ...string)
}

// Session is a session that a command-line agent stores and can continue.
type Session = state.Session

// Used is what attempts used.
type Used = state.Used

// Grade is the result of an attempt.
type Grade string

// The grades.
const (
	Done    Grade = "done"
	Failed  Grade = "failed"  // a retry may succeed
	Blocked Grade = "blocked" // a retry cannot succeed
	// Escalated is an attempt that needs a person; Outcome.Details has the question.
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
	// Later is true for a temporary failure, such as a backend that is down or limits the rate. It
	// does not count as a failure of the task: the supervisor waits before the next attempt.
	Later bool
	// Details explain the grade to a person.
	Details string
	// Usage is nil if it is unknown.
	Usage *llm.Usage
	// Used is the number of calls and tokens and the cost of the attempt; nil if the worker cannot
	// report any.
	Used *Used
	// Capped is the cap of the budget that ended the attempt; otherwise empty.
	Capped string
	// Inert is true if the worker cannot change anything, such as a chat without tools or an agent
	// with read access only.
	Inert bool
	// Warning is important for a person whatever the grade, such as a process that is still
	// running. The supervisor adds it to Details.
	Warning string
	// Session is the session that the next attempt can continue, or nil.
	Session *Session
	// Carry is a note for the next attempt or segment. The supervisor limits its size.
	Carry string
}
