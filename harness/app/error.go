package app

import (
	"errors"
	"fmt"
)

// Kind classifies what went wrong with an agent.
type Kind string

// The kinds of Error. Of an agent that is Unusable nothing can be said, so that the
// verdict is error; the others are ends that a scenario may expect.
const (
	// Absent is something that the agent needs and this machine does not have: Docker,
	// a program of somebody else's. The trial is skipped, unless it must not be.
	Absent Kind = "absent"
	// Unusable is an agent that cannot be driven at all: a program that is missing, that
	// ends before it has called its model or answered, that never becomes healthy, that
	// prints what is no text or an answer of another shape than was said.
	Unusable Kind = "unusable"
	// Failed is an agent that says itself that it failed: an exit status other than 0, an
	// HTTP status of 400 or more.
	Failed Kind = "failed"
	// Crashed is an agent that went away in the middle: ended by a signal, or with its
	// connection cut.
	Crashed Kind = "crashed"
	// TimedOut is an agent that did not answer in time.
	TimedOut Kind = "timeout"
	// Flooded is an agent that wrote more than it may.
	Flooded Kind = "flooded"
)

// Error is why an agent did not start or did not answer.
type Error struct {
	Kind Kind
	// Code is the exit status or the HTTP status; 0 if there is none.
	Code int
	// Message describes what happened, to what, and what to do next, for a person.
	Message string
	// Err is the cause; may be nil.
	Err error
}

// Errorf makes an error; %w keeps the cause.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// Error makes it an error.
func (e *Error) Error() string { return e.Message }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }
