package app

import (
	"errors"
	"fmt"
)

// Kind classifies what went wrong with an agent.
type Kind string

// The kinds of Error. The verdict on an agent that is Unusable is error; the others are ends
// that a scenario may expect.
const (
	// Absent means that this machine lacks something that the agent needs, such as Docker or
	// a program. The trial is skipped unless it is required.
	Absent Kind = "absent"
	// Unusable means that the agent cannot be driven: its program is missing, ends before it
	// has used its backend or answered, never becomes healthy, or prints output that is not
	// text or does not have the described form.
	Unusable Kind = "unusable"
	// Failed means that the agent reported a failure: an exit status other than 0, or an HTTP
	// status of 400 or more.
	Failed Kind = "failed"
	// Crashed means that the agent ended unexpectedly: by a signal, or with a closed
	// connection.
	Crashed Kind = "crashed"
	// TimedOut means that the agent did not answer in time.
	TimedOut Kind = "timeout"
	// Flooded means that the agent wrote more than it may.
	Flooded Kind = "flooded"
)

// Error is the reason why an agent did not start or did not answer.
type Error struct {
	Kind Kind
	// Code is the exit status or the HTTP status, or 0.
	Code int
	// Message describes what happened, to what, and what to do next, for a person.
	Message string
	// Silent is true if the agent ended and gave no reason itself: Message has only the harness's words.
	Silent bool
	// Err is the cause; may be nil.
	Err error
}

// Errorf returns an error; %w sets its cause.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
