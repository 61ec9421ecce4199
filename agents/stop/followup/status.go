package followup

import "github.com/rehearse-dev/rehearse/agents/internal/status"

// Status says how a run ended. It is text in JSON.
type Status string

// The statuses. They mean what those of package loop mean.
const (
	StatusAllowed     Status = "allowed"
	StatusError       Status = "error"
	StatusTimeout     Status = "timeout"
	StatusNoProgress  Status = "no-progress"
	StatusBudget      Status = "budget"
	StatusCapped      Status = "capped"
	StatusInterrupted Status = "interrupted"
)

// StatusInfo is a row of the table of statuses: Status, ExitCode and Meaning.
type StatusInfo = status.Row[Status]

// Statuses is the table of all statuses with their exit codes, which are stable
// and those that package loop uses.
func Statuses() []StatusInfo {
	return []StatusInfo{
		{Status: StatusAllowed, ExitCode: 0, Meaning: "the last answer may stop"},
		{Status: StatusError, ExitCode: 1, Meaning: "a call to the backend failed, or the options are not valid"},
		{Status: StatusTimeout, ExitCode: 3, Meaning: "the time for the run was up"},
		{Status: StatusNoProgress, ExitCode: 5, Meaning: "a refused answer came again, or rounds left the same steps"},
		{Status: StatusBudget, ExitCode: 7, Meaning: "a cap on calls, tokens or cost was reached"},
		{Status: StatusCapped, ExitCode: 8, Meaning: "steps were left after the last round"},
		{Status: StatusInterrupted, ExitCode: 130, Meaning: "the user interrupted the run"},
	}
}

// ExitCode is the process exit code that stands for s; 1 if s is not known.
func (s Status) ExitCode() int { return status.ExitCode(Statuses(), s) }

// UnmarshalText implements encoding.TextUnmarshaler; it refuses other texts than
// those of the table.
func (s *Status) UnmarshalText(text []byte) error {
	known, err := status.Parse(Statuses(), text, "a follow-up")
	if err != nil {
		return err
	}
	*s = known
	return nil
}
