// Package interview conducts interviews: it never asks two questions at once,
// never pays twice for a question that it has, and never loses an answer.
package interview

import (
	"context"
	"log/slog"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
)

// Event is what a client does other than answer.
type Event string

// The events. A new session needs none.
const (
	EventStart  Event = "START"  // a new session
	EventResume Event = "RESUME" // show again what is shown; changes nothing
	EventGo     Event = "GO"     // leave a message that waits; also START_BLOC_1, START_MATCHING
	EventRetry  Event = "RETRY"  // make the call again that failed
)

// Submission is what a client sends.
type Submission struct {
	Session string
	// Candidate and Language are for a new session: letters, digits, ".", "_" and
	// "-", at most 64; empty makes one up. Language is French by default.
	Candidate string
	Language  session.Language
	// Message is what the candidate wrote.
	Message string
	Event   Event
	// ID is the client's own id of the submission: sent again, it changes nothing.
	ID string
	// ReplyTo is the id of the message that is answered. A message or EventGo needs
	// ID or ReplyTo.
	ReplyTo string
}

// View is what a client is shown (I-01).
type View struct {
	SessionID     string       `json:"sessionId"`
	CurrentBlock  int          `json:"currentBlock"`
	State         string       `json:"state"` // collecting, waiting_go, matching
	Response      string       `json:"response"`
	Step          session.Step `json:"step"`
	ExpectsAnswer bool         `json:"expectsAnswer"`
	// AutoContinue means that the service owes the next message: send EventRetry.
	AutoContinue bool `json:"autoContinue"`
	// MessageID is the id of the message in Response, for ReplyTo.
	MessageID string `json:"messageId"`
	// Kind and QuestionIndex say what Response is; the index is -1 where it is no
	// question.
	Kind          session.Kind     `json:"kind"`
	QuestionIndex int              `json:"questionIndex"`
	Language      session.Language `json:"language"`
	// Finished means that nothing follows.
	Finished bool `json:"finished"`
	// Repeated means that the submission had been received before.
	Repeated bool `json:"repeated,omitempty"`
}

// Options configures a Service. The zero value is usable.
type Options struct {
	// Model is the model to ask; empty means the backend's default.
	Model string `yaml:"model,omitempty" json:"model,omitempty"`
	// CallTimeout is for each call; default 60 s.
	CallTimeout time.Duration
	// TransportRetries and ValidationRetries are how often one message is tried
	// again after a failed call, and after a text that does not validate; default
	// 2 and 1, and -1 means never.
	TransportRetries, ValidationRetries int
	// Backoff is the wait before the first retry of a failed call; it doubles;
	// default 1 s.
	Backoff time.Duration
	// History bounds what goes along with a request.
	History prompt.Limits
	// MaxAnswer is the longest answer in bytes; default 64 KiB.
	MaxAnswer int
	// Instance names this server. One that starts again under the same name goes
	// on at once with what it left; another waits for the claim to end.
	Instance string
}

// Deps is what a Service works with. Store, Backend and Clock are required.
type Deps struct {
	Store   session.Store
	Backend llm.Backend
	Clock   clock.Clock
	// Sink is told what is decided; Log gets the lines for operators. Nil is silent.
	Sink event.Sink
	Log  *slog.Logger
	// Count counts the tokens of a text for a model; nil counts none.
	Count func(model, text string) int
	// Price returns what usage costs; nil knows no cost.
	Price budget.Pricer
	// NewID returns an id for a session; nil makes random ones that nobody can
	// guess.
	NewID func() string
}

// Service conducts any number of interviews at once.
type Service struct{}

// New returns a service.
func New(o Options, d Deps) (*Service, error) { return &Service{}, nil }

// Handle does what a client sent. Its error is an *Error.
//
// A client that leaves does not end the step: what is paid for is kept.
func (s *Service) Handle(ctx context.Context, in Submission) (View, error) { return View{}, nil }

// Error says why a submission was refused or could not be carried out. Nothing
// that was stored is lost by it.
type Error struct {
	Code Code
	// Message says it for a person.
	Message string
	// RetryAfter is when to try again; 0 where that is for the client to know.
	RetryAfter time.Duration
	// View is where the interview stands, where that is known.
	View *View
	// Err is the cause; may be nil.
	Err error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Code is the machine's word for an Error.
type Code string

// The codes.
const (
	CodeInvalid      Code = "invalid"           // a field is wrong
	CodeEmptyAnswer  Code = "empty_answer"      // nothing was written
	CodeTooLong      Code = "answer_too_long"   // more than Options.MaxAnswer
	CodeNoID         Code = "submission_needed" // neither ID nor ReplyTo
	CodeUnknown      Code = "unknown_session"   // there is no such session
	CodeUnknownEvent Code = "unknown_event"     // there is no such event
	CodeOutOfOrder   Code = "out_of_order"      // it does not fit where the interview stands
	CodeFinished     Code = "finished"          // nothing follows
	CodeBusy         Code = "busy"              // another request works on the session
	CodeBackend      Code = "backend_failed"    // the calls failed; EventRetry tries again
	CodeReply        Code = "reply_invalid"     // the texts did not validate; EventRetry tries again
	CodeStore        Code = "store_failed"      // the store failed
)
