package loop

import "github.com/rehearse-dev/rehearse/agents/internal/status"

// Status says how a run ended. It is text in JSON.
type Status string

// The statuses.
const (
	StatusDone          Status = "done"
	StatusError         Status = "error"
	StatusTimeout       Status = "timeout"
	StatusMaxIterations Status = "max-iterations"
	StatusNoProgress    Status = "no-progress"
	StatusBlocked       Status = "blocked"
	StatusBudget        Status = "budget"
	StatusCapped        Status = "capped"
	StatusInterrupted   Status = "interrupted"
)

// StatusInfo is a row of the table of statuses: Status, ExitCode and Meaning.
type StatusInfo = status.Row[Status]

// Statuses is the table of all statuses with their exit codes, which are stable.
// Exit code 2 is left to usage and configuration errors of a command line.
func Statuses() []StatusInfo {
	return []StatusInfo{
		{Status: StatusDone, ExitCode: 0, Meaning: "the agent says that the work is done, and the stop guard agrees"},
		{Status: StatusError, ExitCode: 1, Meaning: "calls to the backend failed, or its circuit breaker gave up"},
		{Status: StatusTimeout, ExitCode: 3, Meaning: "the time for the run was up"},
		{Status: StatusMaxIterations, ExitCode: 4, Meaning: "the iteration limit was reached"},
		{Status: StatusNoProgress, ExitCode: 5, Meaning: "answers or errors repeated themselves"},
		{Status: StatusBlocked, ExitCode: 6, Meaning: "the agent handed over to a person, or says done although its permissions refused tool calls"},
		{Status: StatusBudget, ExitCode: 7, Meaning: "a cap on calls, tokens or cost was reached"},
		{Status: StatusCapped, ExitCode: 8, Meaning: "the stop guard refused the completion more often than it may be continued"},
		{Status: StatusInterrupted, ExitCode: 130, Meaning: "the user interrupted the run"},
	}
}

// ExitCode is the process exit code that stands for s; 1 if s is not known.
func (s Status) ExitCode() int { return status.ExitCode(Statuses(), s) }

// UnmarshalText implements encoding.TextUnmarshaler; it refuses other texts than
// those of the table.
func (s *Status) UnmarshalText(text []byte) error {
	known, err := status.Parse(Statuses(), text, "the loop")
	if err != nil {
		return err
	}
	*s = known
	return nil
}
