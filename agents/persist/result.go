package persist

import (
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/status"
	"github.com/rehearse-dev/rehearse/agents/persist/check"
)

// Status says how a run ended. It is text in JSON.
type Status string

// The statuses.
const (
	StatusComplete    Status = "complete"
	StatusError       Status = "error"
	StatusBlocked     Status = "blocked"
	StatusBudget      Status = "budget"
	StatusCapped      Status = "capped"
	StatusEscalated   Status = "escalated"
	StatusInterrupted Status = "interrupted"
)

// StatusInfo is a row of the table of statuses: Status, ExitCode and Meaning.
type StatusInfo = status.Row[Status]

// Statuses is the table of all statuses with their exit codes, which are stable
// and those that package loop uses, where it has the status.
func Statuses() []StatusInfo {
	return []StatusInfo{
		{Status: StatusComplete, ExitCode: 0, Meaning: "every task is done and no check fails"},
		{Status: StatusError, ExitCode: 1, Meaning: "the state could not be kept, or the plan is not valid"},
		{Status: StatusBlocked, ExitCode: 6, Meaning: "what is left cannot be done: an error that no retry mends, or a dependency that failed"},
		{Status: StatusBudget, ExitCode: 7, Meaning: "a cap on time, calls, tokens or cost was reached"},
		{Status: StatusCapped, ExitCode: 8, Meaning: "checks still fail after the last round, or rounds change nothing"},
		{Status: StatusEscalated, ExitCode: 9, Meaning: "a person must decide: a task asks for it, permissions refused a tool call, or nothing shows what was done"},
		{Status: StatusInterrupted, ExitCode: 130, Meaning: "the user interrupted the run"},
	}
}

// ExitCode is the process exit code that stands for s; 1 if s is not known.
func (s Status) ExitCode() int { return status.ExitCode(Statuses(), s) }

// UnmarshalText implements encoding.TextUnmarshaler; it refuses other texts than
// those of the table.
func (s *Status) UnmarshalText(text []byte) error {
	known, err := status.Parse(Statuses(), text, "a supervised run")
	if err != nil {
		return err
	}
	*s = known
	return nil
}

// Result is how a run ended.
type Result struct {
	Status   Status `json:"status"`
	ExitCode int    `json:"exit_code"`
	// Guard is the limit that ended the run, such as "rounds", "no_progress",
	// "segments" or "budget.cost"; empty if none did.
	Guard string `json:"guard,omitempty"`
	// Details says, for a person, why the run ended.
	Details string `json:"details"`
	Tasks   []Task `json:"tasks"`
	// Checks are the last full check; empty if the run ended before one.
	Checks []check.Result `json:"checks,omitempty"`
	Counts Counts         `json:"counts"`
	// Answer is the last answer of a worker.
	Answer   string        `json:"answer,omitempty"`
	Duration time.Duration `json:"duration_ns"` // of this process, on the run's clock
	// Err is the error behind the end; nil where no error was.
	Err error `json:"-"`
}

// Task is where a task stands at the end.
type Task struct {
	ID string `json:"id"`
	Do string `json:"do"`
	// State is waiting, done, failed, blocked, escalated, or dropped: a derived task whose
	// check passed before it was its turn.
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	// From is the check or sign that the task was derived from; empty for the plan's.
	From    string `json:"from,omitempty"`
	Details string `json:"details,omitempty"`
}

// Counts are over the whole run, all its processes together.
type Counts struct {
	Done, Attempts, Retries int
	Checks, Rounds          int
	Derived                 int // tasks that were made of failed checks and of announced steps
	Checkpoints             int
	Stagnations             int
	Segments, ToolCalls     int
	Evicted, Restored       int // files
	Resumes                 int
}
