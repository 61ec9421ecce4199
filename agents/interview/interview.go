// Package interview conducts interviews: it never asks two questions at once,
// never pays twice for a question that it has, and never loses an answer.
//
// What a candidate sends is one atomic step (see Service.Handle). Its answer is
// stored before any model is called, together with the entry of the call in the
// ledger, and the call's outcome together with the message that it made. So a
// crash at any instant leaves an interview that goes on at the same question, and
// repeats at most the one call that was under way.
package interview

import (
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Event is what a client does other than answer.
type Event string

// The events. A message needs none.
const (
	EventStart  Event = "START"  // a new session
	EventResume Event = "RESUME" // show again what is shown; changes nothing
	EventGo     Event = "GO"     // leave a message that waits, or a mirror without a comment
	EventRetry  Event = "RETRY"  // make the message that is owed

	// Other words for EventGo, which fit one step only.
	EventStartBlock1   Event = "START_BLOC_1"   // the preamble
	EventStartMatching Event = "START_MATCHING" // the profile
)

// events lists the events.
func events() []Event {
	return []Event{EventStart, EventResume, EventGo, EventRetry, EventStartBlock1, EventStartMatching}
}

// Submission is what a client sends: a Message or an Event.
type Submission struct {
	// Session is empty for EventStart only.
	Session string
	// Candidate and Language are for a new session: letters, digits, ".", "_" and
	// "-", at most 64; empty makes one up. Language is French by default. Given for
	// a session that there is, the candidate must be its own.
	Candidate string
	Language  session.Language
	// Message is what the candidate wrote. Where the interview waits, the word "go"
	// is EventGo.
	Message string
	Event   Event
	// ID is the client's own id of the submission: sent again, it changes nothing.
	// At most 128 bytes.
	ID string
	// ReplyTo is the id of the message that is answered. A message or EventGo needs
	// ID or ReplyTo; the other events need neither, as they may be repeated.
	ReplyTo string
}

// View is what a client is shown (I-01).
type View struct {
	SessionID     string       `json:"sessionId"`
	CurrentBlock  int          `json:"currentBlock"`
	State         state        `json:"state"`
	Response      string       `json:"response"`
	Step          session.Step `json:"step"`
	ExpectsAnswer bool         `json:"expectsAnswer"`
	// AutoContinue means that the service owes the next message: send EventRetry.
	// Response is still the last one.
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
	// Repeated means that the submission changed nothing, as it had been received
	// before or what it asks for was done.
	Repeated bool `json:"repeated,omitempty"`
}

// State is what a client needs to know of the phase (I-01).
type state string

// The states.
const (
	collecting state = "collecting"
	waitingGo  state = "waiting_go" // EventGo goes on
	matching   state = "matching"   // the last step
)
