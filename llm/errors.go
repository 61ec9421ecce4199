package llm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrorKind is the kind of a failed call.
type ErrorKind string

// The kinds of Error. Each is also the text used in recordings and reports.
const (
	RateLimited     ErrorKind = "rate-limited"     // 429, or a quota text of a command-line agent
	Timeout         ErrorKind = "timeout"          // no answer within the call's own deadline
	Unavailable     ErrorKind = "unavailable"      // 5xx, connection refused or reset, program not runnable
	Unauthorized    ErrorKind = "unauthorized"     // 401, 403: a missing or wrong key
	InvalidRequest  ErrorKind = "invalid-request"  // 4xx: the request itself is wrong
	Malformed       ErrorKind = "malformed"        // an answer that is not in the expected form
	Refused         ErrorKind = "refused"          // content filter, or an explicit refusal
	Truncated       ErrorKind = "truncated"        // an answer cut off before its end
	Failed          ErrorKind = "failed"           // a command-line agent reported that it failed
	NoSession       ErrorKind = "no-session"       // a command-line agent does not have the session to continue
	ScriptExhausted ErrorKind = "script-exhausted" // a scripted backend has no line left
	UnexpectedCall  ErrorKind = "unexpected-call"  // a scripted backend has no line for this request
)

// Transient reports whether the same request may succeed a moment later.
func (k ErrorKind) Transient() bool {
	return slices.Contains([]ErrorKind{RateLimited, Timeout, Unavailable, Truncated}, k)
}

// KindOfStatus returns the kind for an HTTP status of a failure, if nothing else is known.
func KindOfStatus(status int) ErrorKind {
	switch {
	case status == 429:
		return RateLimited
	case status == 401 || status == 403:
		return Unauthorized
	case status == 408:
		return Timeout
	case status == 409 || status >= 500:
		return Unavailable
	}
	return InvalidRequest
}

// Error is a failed call.
type Error struct {
	Kind ErrorKind
	// Backend is the id of the backend that failed.
	Backend string
	// Status is the HTTP status or the process's exit status; 0 if neither.
	Status int
	// RetryAfter is the wait that the provider asked for, or 0.
	RetryAfter time.Duration
	// ResetAt is the time at which a usage limit ends, if the program names it; otherwise zero.
	ResetAt time.Time
	// Message describes what happened, for a person.
	Message string
	// Partial is the text that had arrived before the failure.
	Partial string
	// Usage is the usage of the failed call; nil if unknown.
	Usage *Usage
	// Retries are the failed attempts before the last one.
	Retries []Retry
	// Lasting is true if a repetition would fail in the same way whatever the Kind, such as with a program of
	// another version.
	Lasting bool
	// Err is the cause; may be nil.
	Err error
}

// Error names the backend, the kind, the status and the message.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Backend != "" {
		b.WriteString(e.Backend + ": ")
	}
	b.WriteString(string(e.Kind))
	if e.Status != 0 {
		fmt.Fprintf(&b, " (%d)", e.Status)
	}
	switch {
	case e.Message != "":
		b.WriteString(": " + e.Message)
	case e.Err != nil:
		b.WriteString(": " + e.Err.Error())
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, "; retry after %s", e.RetryAfter)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain, or an empty kind.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// Retry describes one failed attempt within a call.
type Retry struct {
	Kind   ErrorKind `json:"kind"`
	Status int       `json:"status,omitempty"`
	// Wait is the time before the next attempt.
	Wait time.Duration `json:"wait"`
}
