// Package session defines the state of an interview, the Store that keeps it, and
// the state machine that moves it: Next is a pure function from a session and an
// input to the next session and what follows from it. The package also reads the
// answers that decide what comes next, and finds titles of works in texts.
package session

import (
	"strconv"
	"time"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Language is the language of an interview.
type Language string

// The languages with prompts of their own.
const (
	French  Language = "fr"
	English Language = "en"
)

// Languages lists the languages.
func Languages() []Language { return []Language{French, English} }

// Register is how the candidate wants to be addressed.
type Register string

// The registers: "tu" or "vous" in French.
const (
	Informal Register = "informal"
	Formal   Register = "formal"
)

// Medium is what block 2A adapts to.
type Medium string

// The media.
const (
	Series Medium = "series"
	Film   Medium = "film"
)

// Phase says who is to act next, and how.
type Phase string

// The phases.
const (
	Asking     Phase = "asking"     // a question is shown; the candidate answers
	Reflecting Phase = "reflecting" // a mirror is shown; the candidate says whether it fits
	Waiting    Phase = "waiting"    // the candidate says when to go on
	Owing      Phase = "owing"      // the service owes the next message; see Session.Owed
	Finished   Phase = "finished"   // nothing follows
)

// Session is the small part of an interview, which is read and written with
// every step. What only grows (messages, answers, queues of other steps, calls)
// lies beside it in the Store.
type Session struct {
	ID        string   `json:"id"`
	Candidate string   `json:"candidate"`
	Language  Language `json:"language"`
	// Version counts commits, from 1. A commit on another version than the stored
	// one fails with ErrConflict.
	Version int64     `json:"version"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`

	Step  Step  `json:"step"`
	Phase Phase `json:"phase"`
	// Owed is the message that the service owes; set in phase Owing only.
	Owed *Owed `json:"owed,omitempty"`
	// Register, Medium, Works and CoreWork are what the answers said.
	Register Register `json:"register,omitempty"`
	Medium   Medium   `json:"medium,omitempty"`
	Works    []string `json:"works,omitempty"`
	CoreWork string   `json:"core_work,omitempty"`
	// Shown is the Seq of the message that the candidate sees last, from 1.
	Shown int `json:"shown"`
	// Messages and Calls are how many there are; the next one gets the number after.
	Messages int `json:"messages"`
	Calls    int `json:"calls"`
	// Unread is how many answers to the present question left open what it asks.
	Unread int `json:"unread,omitempty"`
	// Retries is how often the candidate asked for a message that was owed, and
	// Spent what the calls cost so far, where that is unknown by our own count.
	Retries int            `json:"retries,omitempty"`
	Spent   quantity.Money `json:"spent,omitzero"`
	// Fallbacks are the messages that a text of the prompts took the place of.
	Fallbacks []Fallback `json:"fallbacks,omitempty"`

	// Queue is that of the current step; nil where it has none (yet).
	Queue *Queue `json:"-"`
}

// Fallback is a message that no text of a model was good enough for: a neutral text
// of the prompts was shown instead, so that the interview went on.
type Fallback struct {
	Purpose Purpose `json:"purpose"`
	Step    Step    `json:"step"`
	// Index is the question's, for PurposeAdaptive.
	Index int `json:"index,omitempty"`
	// Message is the Seq of the message, the first one of a batch.
	Message int `json:"message"`
	// Refused is how many texts of the model were refused, and Rule what the last one
	// broke.
	Refused int    `json:"refused"`
	Rule    string `json:"rule"`
}

// Owed is a message that the service owes the candidate: the candidate's part is
// stored, the model's is not. It survives a crash, so that the interview goes on
// with exactly this call.
type Owed struct {
	Purpose Purpose `json:"purpose"`
	// Index is the question's, for Adaptive.
	Index int `json:"index,omitempty"`
	// Attempt is the number of the last call for this message, from 1; no retry of
	// the candidate sets it back.
	Attempt int `json:"attempt,omitempty"`
	// Transport and Validation count the failed attempts of the present try.
	Transport  int `json:"transport,omitempty"`
	Validation int `json:"validation,omitempty"`
	// Refused is how many texts were refused for this message; no retry of the
	// candidate sets it back.
	Refused int `json:"refused,omitempty"`
	// Complaint is what the last reply lacked, in the language of the interview, for
	// the reinforced instruction. Reply is that reply, and Wanted are the titles that
	// it did not name, as the candidate wrote them.
	Complaint string   `json:"complaint,omitempty"`
	Reply     string   `json:"reply,omitempty"`
	Wanted    []string `json:"wanted,omitempty"`
	// InFlight is the number of the call that was begun and has no outcome; 0 if
	// none. Found after a crash, the call is lost and is made once more.
	InFlight int `json:"in_flight,omitempty"`
	// Failed is the code of the error with which the present try ended; empty
	// while it has not. The candidate's retry clears it.
	Failed string `json:"failed,omitempty"`
	// Limit is the limit of the session that was reached: "calls", "cost" or
	// "retries"; empty if none was.
	Limit string `json:"limit,omitempty"`
	// Holder is the instance that works on it, and Until when its claim ends, so
	// that two servers do not pay for one message twice.
	Holder string    `json:"holder,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	// Draft is a reply that may be used if no better one comes; nil if there is
	// none.
	Draft *Draft `json:"draft,omitempty"`
}

// Draft is a reply that has warnings at most, with its entry in the ledger.
type Draft struct {
	Text string `json:"text"`
	Call Call   `json:"call"`
}

// Queue holds the questions of one step. A batch is generated at once and served
// one by one.
type Queue struct {
	Step      Step     `json:"step"`
	Questions []string `json:"questions"`
	// Cursor is the index of the question that is shown; len(Questions) once all
	// are answered.
	Cursor    int       `json:"cursor"`
	Complete  bool      `json:"complete"`
	Generated time.Time `json:"generated"`
	Completed time.Time `json:"completed,omitzero"`
}

// Reflection is the index of the candidate's comment on a mirror, which is kept
// like an answer.
const Reflection = -1

// Answer is what the candidate answered to one question: at most one for each
// step and index, for ever.
type Answer struct {
	Step  Step      `json:"step"`
	Index int       `json:"index"` // of the question, from 0, or Reflection
	Text  string    `json:"text"`
	At    time.Time `json:"at"`
	// Message is the Seq of the message that holds it.
	Message int `json:"message"`
}

// Kind says what a message is.
type Kind string

// The kinds of Message. A message of the candidate has the kind of what it
// replies to.
const (
	KindTone     Kind = "tone"
	KindPreamble Kind = "preamble"
	KindQuestion Kind = "question" // holds exactly one question
	KindMirror   Kind = "mirror"
	KindMatching Kind = "matching"
	KindOther    Kind = "other" // identity, final profile
)

// NoQuestion is the Question of a message that belongs to none.
const NoQuestion = -1

// Message is one thing that was said.
type Message struct {
	Seq  int      `json:"seq"` // from 1 in order; never reused
	Role llm.Role `json:"role"`
	Kind Kind     `json:"kind"`
	Step Step     `json:"step"`
	// Question is the index of the question that is asked or answered, or
	// NoQuestion.
	Question int    `json:"question"`
	Text     string `json:"text"`
	// Tokens is the size of Text, counted once.
	Tokens int       `json:"tokens"`
	At     time.Time `json:"at"`
	// Call is the number of the call that wrote the text; 0 if none did.
	Call int `json:"call,omitempty"`
}

// ID returns the name of the message for clients.
func (m Message) ID() string { return MessageID(m.Seq) }

// MessageID returns the name of the message with a number.
func MessageID(seq int) string { return "m" + strconv.Itoa(seq) }

// Purpose says what a call is for.
type Purpose string

// The purposes of calls.
const (
	PurposePreamble  Purpose = "preamble"
	PurposeQuestions Purpose = "questions" // all questions of a step at once
	PurposeAdaptive  Purpose = "adaptive"  // one question of block 2A
	PurposeMirror    Purpose = "mirror"
	PurposeProfile   Purpose = "profile"
	PurposeMatching  Purpose = "matching"
)

// Purposes lists the purposes.
func Purposes() []Purpose {
	return []Purpose{
		PurposePreamble, PurposeQuestions, PurposeAdaptive, PurposeMirror, PurposeProfile, PurposeMatching,
	}
}

// Outcome is how a call ended.
type Outcome string

// The outcomes of a Call.
const (
	Begun    Outcome = "begun"    // no outcome yet
	Accepted Outcome = "accepted" // its text was used
	Rejected Outcome = "rejected" // its text did not validate
	Broken   Outcome = "broken"   // it failed in transport
	Lost     Outcome = "lost"     // the process died meanwhile; whether it was paid is unknown
)

// Call is one entry of the ledger: every call there was, from before it began.
type Call struct {
	N       int     `json:"n"` // from 1
	Purpose Purpose `json:"purpose"`
	Step    Step    `json:"step"`
	// Index is the question's, for PurposeAdaptive.
	Index   int     `json:"index,omitempty"`
	Attempt int     `json:"attempt"` // for the same message, from 1
	Outcome Outcome `json:"outcome"`
	// Repeats is the number of the lost call that this one makes again; 0 if none.
	Repeats int           `json:"repeats,omitempty"`
	At      time.Time     `json:"at"`
	Latency time.Duration `json:"latency_ns,omitempty"`
	Model   string        `json:"model,omitempty"`
	// Counted are the tokens by our own count, Reported those by the backend's;
	// nil where it reported none. See Disagrees.
	Counted  llm.Usage  `json:"counted"`
	Reported *llm.Usage `json:"reported,omitempty"`
	// Cost is in the price table's currency; nil if it is unknown.
	Cost *quantity.Money `json:"cost,omitempty"`
	// Fault is the llm.ErrorKind of a broken call or the rule that a rejected one
	// broke; Detail says it for a person.
	Fault  string `json:"fault,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Warnings are what an accepted text has that it should not.
	Warnings []string `json:"warnings,omitempty"`
	// Prompt is the version and the hash of the prompts.
	Prompt string `json:"prompt"`
	// Sent and Trimmed are how many messages of the history went along and how many
	// were left out.
	Sent    int `json:"sent"`
	Trimmed int `json:"trimmed,omitempty"`
}

// Used returns the tokens that the call is charged for: those that the backend
// reported, else our own count.
func (c Call) Used() llm.Usage {
	if c.Reported != nil {
		return *c.Reported
	}
	return c.Counted
}

// Billed returns the tokens that the cost is computed from: Used, and none for a call
// that broke before the backend reported any.
func (c Call) Billed() llm.Usage {
	if c.Outcome == Broken && c.Reported == nil {
		return llm.Usage{}
	}
	return c.Used()
}

// Disagrees reports whether the backend's tokens differ from our own count by
// more than 1 % and more than the framing explains: each provider adds other
// tokens for each message, from none to about five, to which our count adds some.
func (c Call) Disagrees() bool {
	if c.Reported == nil {
		return false
	}
	const perMessage, instructions = 5, 4 // beside Sent, at most
	far := func(a, b, framing int) bool {
		diff := max(a-b, b-a)
		return diff > framing && diff*100 > max(a, b)
	}
	return far(c.Counted.Total()-c.Counted.Output, c.Reported.Total()-c.Reported.Output, perMessage*(c.Sent+instructions)) ||
		far(c.Counted.Output, c.Reported.Output, perMessage)
}
