package run

import "fmt"

// Status is how a run ended. It is text in JSON.
type Status string

// The statuses of all agents.
const (
	Done          Status = "done"
	Complete      Status = "complete"
	Error         Status = "error"
	Timeout       Status = "timeout"
	MaxIterations Status = "max-iterations"
	NoProgress    Status = "no-progress"
	Blocked       Status = "blocked"
	Budget        Status = "budget"
	Capped        Status = "capped"
	Limited       Status = "limited"
	Escalate      Status = "escalate"
	Escalated     Status = "escalated"
	Partial       Status = "done_partial"
	Delegate      Status = "delegate"
	Interrupted   Status = "interrupted"
)

// exitCodes are stable. Code 2 is reserved for usage and configuration errors of a command line.
var exitCodes = map[Status]int{
	Done: 0, Complete: 0, Error: 1, Timeout: 3, MaxIterations: 4, NoProgress: 5, Blocked: 6, Budget: 7, Capped: 8,
	Escalate: 9, Escalated: 9, Partial: 10, Delegate: 11, Limited: 12, Interrupted: 130,
}

// ExitCode returns the exit code of a process whose run ended with s; 1 if s is unknown.
func (s Status) ExitCode() int {
	if code, known := exitCodes[s]; known {
		return code
	}
	return exitCodes[Error]
}

// UnmarshalText implements encoding.TextUnmarshaler. It rejects unknown statuses.
func (s *Status) UnmarshalText(text []byte) error {
	if _, known := exitCodes[Status(text)]; !known {
		return fmt.Errorf("%q is not a status of a run", text)
	}
	*s = Status(text)
	return nil
}

// StatusInfo describes a status of one agent.
type StatusInfo struct {
	Status   Status
	ExitCode int
	Meaning  string
}

// Row returns the fields, for packages outside of agents.
func (i StatusInfo) Row() (exitCode int, status, meaning string) {
	return i.ExitCode, string(i.Status), i.Meaning
}

// Info returns the description of s for an agent.
func (s Status) Info(meaning string) StatusInfo { return StatusInfo{s, s.ExitCode(), meaning} }
