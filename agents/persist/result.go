package persist

import (
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// Status is how a run ended. It is text in JSON.
type Status = run.Status

// The statuses.
const (
	StatusComplete    = run.Complete
	StatusError       = run.Error
	StatusBlocked     = run.Blocked
	StatusBudget      = run.Budget
	StatusCapped      = run.Capped
	StatusEscalated   = run.Escalated
	StatusInterrupted = run.Interrupted
)

// Statuses lists all statuses with their exit codes, which are stable.
func Statuses() []run.StatusInfo {
	return []run.StatusInfo{
		StatusComplete.Info("every task is done and no check fails"),
		StatusError.Info("the state could not be stored, or the plan is invalid"),
		StatusBlocked.Info("the remaining tasks cannot be done: an error that no retry fixes, or a failed dependency"),
		StatusBudget.Info("a cap on time, calls, tokens or cost was reached"),
		StatusCapped.Info("checks still fail after the last round, or rounds change nothing"),
		StatusEscalated.Info("a person must decide: a task asks for it, permissions refused a tool call, or nothing verifies the work"),
		StatusInterrupted.Info("the user interrupted the run"),
	}
}

// Result is how a run ended.
type Result struct {
	Status   Status `json:"status"`
	ExitCode int    `json:"exit_code"`
	// Guard is the limit that ended the run, such as "rounds", "no_progress", "segments" or
	// "budget.cost"; otherwise empty.
	Guard string `json:"guard,omitempty"`
	// Details explain the end to a person.
	Details string `json:"details"`
	Tasks   []Task `json:"tasks"`
	// Checks are the results of the last full check, if there was one.
	Checks []plan.CheckResult `json:"checks,omitempty"`
	Counts Counts             `json:"counts"`
	// Used is the usage of all attempts in all processes of the run.
	Used Used `json:"used,omitzero"`
	// Answer is the last answer of a worker.
	Answer   string        `json:"answer,omitempty"`
	Duration time.Duration `json:"duration_ns"` // of this process, on the run's clock
	// Err is the error that ended the run, if one did.
	Err error `json:"-"`
}

// Task is the state of a task at the end of a run.
type Task struct {
	ID string `json:"id"`
	Do string `json:"do"`
	// State is waiting, done, failed, blocked, escalated, skipped or dropped. A derived task is dropped
	// if its check passes before the task begins.
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	// From is the check that the task was derived from; empty for a task of the plan.
	From    string `json:"from,omitempty"`
	Details string `json:"details,omitempty"`
	// Accepted is the verdict of the task's acceptance commands on its last attempt: pass, fail or
	// unknown; empty if none ran.
	Accepted plan.Verdict `json:"accepted,omitempty"`
	// Used is the usage of all its attempts; zero if its worker does not report any.
	Used Used `json:"used,omitzero"`
	// Session is the id of the command-line agent's session that the next attempt continues; empty for a
	// new one.
	Session string `json:"session,omitempty"`
	// Current is the attempt without a recorded outcome, if there is one. Only Look sets it.
	Current *Current `json:"current,omitempty"`
	// Transcript is the file with the transcript of the last attempt, if one was written. Run does not
	// set it.
	Transcript string `json:"transcript,omitempty"`
}

// Current is an attempt in progress, an attempt during which the process was killed, or a parallel attempt
// that has ended but waits for earlier tasks.
type Current struct {
	Attempt int `json:"attempt"`
	// Grade is empty while the attempt is in progress.
	Grade Grade `json:"grade,omitempty"`
}

// Open reports whether the task is neither done, dropped nor skipped.
func (t Task) Open() bool { return t.State != "done" && t.State != "dropped" && t.State != "skipped" }

// Counts are the totals of all processes of a run.
type Counts struct {
	Done        int `json:"done"`
	Attempts    int `json:"attempts"`
	Retries     int `json:"retries"`
	Checks      int `json:"checks"`
	Rounds      int `json:"rounds"`
	Derived     int `json:"derived"` // tasks made from failed checks and announced steps
	Checkpoints int `json:"checkpoints"`
	Stagnations int `json:"stagnations"`
	Segments    int `json:"segments"`
	ToolCalls   int `json:"tool_calls"`
	Evicted     int `json:"evicted"` // files
	Restored    int `json:"restored"`
	Resumes     int `json:"resumes"`
}
