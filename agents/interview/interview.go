// Package interview conducts interviews. It asks one question at a time, never pays
// twice for a question that it has, and never loses an answer.
//
// Each submission of a candidate is one atomic step (see Service.Handle). The answer
// is stored before any model is called, together with the ledger entry of the call,
// and the outcome of the call together with the message that it produced. After a
// crash the interview continues at the same question and repeats at most the one call
// that was in flight.
package interview

import (
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Event is an action of a client other than an answer.
type Event string

// The events. A message is sent without one.
const (
	EventStart  Event = "START"  // begin a new session
	EventResume Event = "RESUME" // show the current message again; changes nothing
	EventGo     Event = "GO"     // continue after a message that waits, or after a mirror without a comment
	EventRetry  Event = "RETRY"  // produce the message that is owed

	// Synonyms of EventGo, each valid after one message only.
	EventStartBlock1   Event = "START_BLOC_1"   // the preamble
	EventStartMatching Event = "START_MATCHING" // the profile
)

// events lists the events.
func events() []Event {
	return []Event{EventStart, EventResume, EventGo, EventRetry, EventStartBlock1, EventStartMatching}
}

// Submission is a client's input: a Message or an Event.
type Submission struct {
	// Session is the id of the session; empty for EventStart only.
	Session string
	// Candidate and Language describe a new session. A candidate has at most 64 letters,
	// digits, ".", "_" and "-"; empty generates one. The default language is French, if the
	// job is described in it. With
	// an existing session, the candidate must be that of the session.
	Candidate string
	Language  session.Language
	// Job is the id of the job of a new session. It is required if there are several, and ignored
	// in other submissions.
	Job string
	// Invitation is the token with which a new session begins; may be empty.
	Invitation string
	// Message is the text of the candidate. While the interview waits, the word "go" means
	// EventGo.
	Message string
	Event   Event
	// ID is the client's id of the submission, at most 128 bytes. A submission with the
	// same id changes nothing.
	ID string
	// ReplyTo is the id of the answered message. A message or EventGo without ID and ReplyTo
	// counts as a repetition if it equals the last one and arrives while that one is handled,
	// while the next message is owed, or less than 5 s after it was shown.
	ReplyTo string
	// Address identifies the network address of the client for Options.PerAddress; empty if it is
	// not known. Only a hash of it is stored.
	Address string
}

// repeatWindow is the time after a message was shown in which a submission without ID and ReplyTo
// that equals the previous one is a repetition of it, and not an answer to the new message. It is
// longer than a double click and the pause of most clients before they send again, and hardly
// anybody reads a question and answers it in less time.
const repeatWindow = 5 * time.Second

// View is the state of an interview as a client sees it (I-01).
type View struct {
	SessionID     string       `json:"sessionId"`
	CurrentBlock  int          `json:"currentBlock"`
	State         state        `json:"state"`
	Response      string       `json:"response"`
	Step          session.Step `json:"step"`
	ExpectsAnswer bool         `json:"expectsAnswer"`
	// AutoContinue is true if the service owes the next message: send EventRetry. Response
	// is still the previous message.
	AutoContinue bool `json:"autoContinue"`
	// MessageID is the id of the message in Response, for ReplyTo.
	MessageID string `json:"messageId"`
	// Kind and QuestionIndex describe Response; the index is -1 if it is not a question.
	Kind          session.Kind     `json:"kind"`
	QuestionIndex int              `json:"questionIndex"`
	Language      session.Language `json:"language"`
	// Finished is true after the last message.
	Finished bool `json:"finished"`
	// Repeated is true if the submission changed nothing, because it had been received
	// before or its effect was already there.
	Repeated bool `json:"repeated,omitempty"`
}

// state is the phase as clients see it (I-01).
type state string

// The states.
const (
	collecting state = "collecting"
	waitingGo  state = "waiting_go" // send EventGo to continue
	matching   state = "matching"   // the last step
)
