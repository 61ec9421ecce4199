package interview

import (
	"fmt"
	"time"
)

// Error is a submission that was refused or that failed. Nothing that was stored is lost.
type Error struct {
	Code Code
	// Message describes the error for a person.
	Message string
	// RetryAfter is the time to wait before another try; 0 leaves it to the client.
	RetryAfter time.Duration
	// View is the state of the interview; nil if it is not known.
	View *View
	// Err is the cause; may be nil. It may contain details that a candidate must not see.
	Err error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Code identifies the kind of an Error.
type Code string

// The codes.
const (
	CodeInvalid      Code = "invalid"            // a field is wrong
	CodeEmptyAnswer  Code = "empty_answer"       // nothing was written
	CodeTooLong      Code = "answer_too_long"    // more than Options.MaxAnswer
	CodeUnknown      Code = "unknown_session"    // no such session
	CodeUnknownEvent Code = "unknown_event"      // no such event
	CodeUnknownJob   Code = "unknown_job"        // no such job, or several and none was named
	CodeOutOfOrder   Code = "out_of_order"       // it does not fit the state of the interview
	CodeFinished     Code = "finished"           // the interview has ended
	CodeBusy         Code = "busy"               // another server works on the session, or this one shuts down
	CodeBackend      Code = "backend_failed"     // the calls failed; EventRetry tries again
	CodeReply        Code = "reply_invalid"      // the texts did not validate; EventRetry tries again
	CodeLimit        Code = "session_limit"      // the session has used its calls, its cost or its retries
	CodeBudget       Code = "budget_spent"       // the calls or the cost of a day are used up
	CodeUninvited    Code = "invitation_needed"  // interviews begin with an invitation only
	CodeInvitation   Code = "invitation_invalid" // there is no such invitation, or it cannot be used any more
	CodeOtherJob     Code = "invitation_job"     // the invitation is for another job
	CodeStore        Code = "store_failed"       // the store failed; the same submission may be sent again
)

// Codes lists the codes.
func Codes() []Code {
	return []Code{
		CodeInvalid, CodeEmptyAnswer, CodeTooLong, CodeUnknown, CodeUnknownEvent,
		CodeUnknownJob, CodeOutOfOrder, CodeFinished, CodeBusy, CodeBackend, CodeReply, CodeLimit, CodeBudget,
		CodeUninvited, CodeInvitation, CodeOtherJob, CodeStore,
	}
}

func refuse(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// unknownSession returns the error for a session that does not exist, or was deleted.
func unknownSession(err error) *Error {
	e := refuse(CodeUnknown, "sessionId: there is no such session; START begins a new one")
	e.Err = err
	return e
}

// storeFailed returns the error for a store that failed during an operation.
func storeFailed(doing string, err error) *Error {
	return &Error{
		Code: CodeStore, Err: fmt.Errorf("%s: %w", doing, err),
		Message: "the interview could not be read or stored; nothing that was stored is lost: send the same again in a moment",
	}
}
