package loop

import (
	"fmt"
	"slices"
)

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

// StatusInfo is a row of the table of statuses.
type StatusInfo struct {
	Status   Status
	ExitCode int
	Meaning  string
}

// Statuses is the table of all statuses with their exit codes, which are stable.
// Exit code 2 is left to usage and configuration errors of a command line.
func Statuses() []StatusInfo {
	return []StatusInfo{
		{StatusDone, 0, "the agent says that the work is done, and the stop guard agrees"},
		{StatusError, 1, "calls to the backend failed, or its circuit breaker gave up"},
		{StatusTimeout, 3, "the time for the run was up"},
		{StatusMaxIterations, 4, "the iteration limit was reached"},
		{StatusNoProgress, 5, "answers or errors repeated themselves"},
		{StatusBlocked, 6, "the agent handed over to a person"},
		{StatusBudget, 7, "a cap on calls, tokens or cost was reached"},
		{StatusCapped, 8, "the stop guard refused the completion more often than it may be continued"},
		{StatusInterrupted, 130, "the user interrupted the run"},
	}
}

// ExitCode is the process exit code that stands for s; 1 if s is not known.
func (s Status) ExitCode() int {
	for _, row := range Statuses() {
		if row.Status == s {
			return row.ExitCode
		}
	}
	return 1
}

// UnmarshalText implements encoding.TextUnmarshaler; it refuses other texts than
// those of the table.
func (s *Status) UnmarshalText(text []byte) error {
	known := slices.ContainsFunc(Statuses(), func(row StatusInfo) bool { return string(row.Status) == string(text) })
	if !known {
		return fmt.Errorf("%q is not a status of the loop", text)
	}
	*s = Status(text)
	return nil
}
