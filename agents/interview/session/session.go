// Package session defines the state of an interview, the interface of its stores, and its state
// machine: Next is a pure function from a session and an input to the next session and its
// messages. The package also parses the answers that determine the next step, and finds titles of
// works in texts.
package session

import (
	"slices"
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

// Register is the form of address that the candidate chose.
type Register string

// The registers: "tu" or "vous" in French.
const (
	Informal Register = "informal"
	Formal   Register = "formal"
)

// Medium is the kind of works that block 2A asks about.
type Medium string

// The media.
const (
	Series Medium = "series"
	Film   Medium = "film"
)

// Phase names the input that the session waits for.
type Phase string

// The phases.
const (
	Asking     Phase = "asking"     // a question is shown; the candidate answers
	Reflecting Phase = "reflecting" // a mirror is shown; the candidate may comment on it
	Waiting    Phase = "waiting"    // the candidate decides when to continue
	Owing      Phase = "owing"      // the service owes the next message; see Session.Owed
	Finished   Phase = "finished"   // the interview has ended
)

// Session is the part of an interview that every step reads and writes. Messages, answers, calls
// and the queues of other steps are stored separately.
type Session struct {
	ID        string   `json:"id"`
	Candidate string   `json:"candidate"`
	Language  Language `json:"language"`
	// Version counts commits, from 1. A commit to another version than the stored one fails with
	// ErrConflict.
	Version int64     `json:"version"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Job is the job with which the session began; nil in sessions from before jobs could be
	// chosen, which are about the shipped one.
	Job *Job `json:"job,omitempty"`
	// Invitation is the id of the invitation that began the session; empty if none did. Invited is true
	// if it named the candidate; otherwise the client chose the candidate's id.
	Invitation string `json:"invitation,omitempty"`
	Invited    bool   `json:"invited,omitempty"`

	Step  Step  `json:"step"`
	Phase Phase `json:"phase"`
	// Owed is the message that the service owes; nil except in phase Owing.
	Owed *Owed `json:"owed,omitempty"`
	// Register, Medium, Works and CoreWork are read from the answers.
	Register Register `json:"register,omitempty"`
	Medium   Medium   `json:"medium,omitempty"`
	Works    []string `json:"works,omitempty"`
	CoreWork string   `json:"core_work,omitempty"`
	// Shown is the Seq of the last message to the candidate.
	Shown int `json:"shown"`
	// Messages and Calls are the numbers of messages and calls so far.
	Messages int `json:"messages"`
	Calls    int `json:"calls"`
	// Unread is the number of answers to the current question without a choice.
	Unread int `json:"unread,omitempty"`
	// Retries is the number of times that the candidate asked for an owed message. Spent is the
	// cost of the calls so far; unknown costs are estimated from our own token count.
	Retries int            `json:"retries,omitempty"`
	Spent   quantity.Money `json:"spent,omitzero"`
	// Unpriced is the number of calls whose cost is unknown.
	Unpriced int `json:"unpriced,omitempty"`
	// Fallbacks lists the messages that were replaced by a text of the prompts.
	Fallbacks []Fallback `json:"fallbacks,omitempty"`

	// Queue is the queue of the current step; nil if it has none.
	Queue *Queue `json:"-"`
}

// Clone returns a copy that shares nothing that can change.
func (s Session) Clone() Session {
	s.Works, s.Fallbacks = slices.Clone(s.Works), slices.Clone(s.Fallbacks)
	if s.Job = copied(s.Job); s.Job != nil {
		s.Job.Requirements = slices.Clone(s.Job.Requirements)
	}
	if s.Queue = copied(s.Queue); s.Queue != nil {
		s.Queue.Questions = slices.Clone(s.Queue.Questions)
	}
	if s.Owed = copied(s.Owed); s.Owed == nil {
		return s
	}
	s.Owed.Wanted = slices.Clone(s.Owed.Wanted)
	if s.Owed.Draft = copied(s.Owed.Draft); s.Owed.Draft != nil {
		call := &s.Owed.Draft.Call
		call.Reported, call.Cost, call.Warnings = copied(call.Reported), copied(call.Cost), slices.Clone(call.Warnings)
	}
	return s
}

// copied returns a pointer to a copy of a value, or nil.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// shortID is the maximum length of a ShortID.
const shortID = 8

// ShortID returns the start of a session's id, which identifies the session for people without giving access
// to it.
func ShortID(id string) string { return id[:min(shortID, len(id)/2)] }

// Fallback is a neutral text of the prompts that was shown because the texts of the model were
// invalid.
type Fallback struct {
	Purpose Purpose `json:"purpose"`
	Step    Step    `json:"step"`
	// Index is the index of the question, for PurposeAdaptive.
	Index int `json:"index,omitempty"`
	// Message is the Seq of the message, or of the first question of a batch.
	Message int `json:"message"`
	// Refused is the number of invalid texts, and Rule the rule broken by the last one.
	Refused int    `json:"refused"`
	Rule    string `json:"rule"`
}

// Owed is a message that the service owes the candidate: the candidate's answer is stored, but
// the reply of the model is not yet. After a crash the interview continues with this call.
type Owed struct {
	Purpose Purpose `json:"purpose"`
	// Index is the index of the question, for PurposeAdaptive.
	Index int `json:"index,omitempty"`
	// Attempt is the number of the last call for this message, from 1. Retries of the
	// candidate do not reset it.
	Attempt int `json:"attempt,omitempty"`
	// Transport and Validation count the failed attempts of the current try.
	Transport  int `json:"transport,omitempty"`
	Validation int `json:"validation,omitempty"`
	// Refused is the number of invalid texts for this message. Retries of the candidate do
	// not reset it.
	Refused int `json:"refused,omitempty"`
	// Complaint lists the findings about the last reply in the language of the interview, for
	// the next attempt. Reply is that reply, and Wanted lists the titles missing from it, as the
	// candidate wrote them.
	Complaint string   `json:"complaint,omitempty"`
	Reply     string   `json:"reply,omitempty"`
	Wanted    []string `json:"wanted,omitempty"`
	// InFlight is the number of the call without an outcome, or 0. After a crash this call is
	// lost and repeated.
	InFlight int `json:"in_flight,omitempty"`
	// Failed is the code of the error that ended the current try; empty while it lasts. A retry
	// of the candidate clears it.
	Failed string `json:"failed,omitempty"`
	// Since is the time since when the message is owed.
	Since time.Time `json:"since,omitzero"`
	// Limit is the limit that was reached: "calls", "cost" or "retries" of the session,
	// "calls-per-day", "cost-per-day", "calls-per-address" or "cost-per-address"; empty if none was.
	Limit string `json:"limit,omitempty"`
	// Holder is the instance that works on the message, and Until the end of its claim, which
	// keeps two servers from paying for one message.
	Holder string    `json:"holder,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	// Draft is a reply to use if no better one follows; may be nil.
	Draft *Draft `json:"draft,omitempty"`
}

// Draft is a valid reply with warnings, and its entry in the ledger.
type Draft struct {
	Text string `json:"text"`
	Call Call   `json:"call"`
}

// Queue contains the questions of one step. A batch is generated at once and served one by one.
type Queue struct {
	Step      Step     `json:"step"`
	Questions []string `json:"questions"`
	// Cursor is the index of the shown question, or len(Questions) when all are answered.
	Cursor    int       `json:"cursor"`
	Complete  bool      `json:"complete"`
	Generated time.Time `json:"generated"`
	Completed time.Time `json:"completed,omitzero"`
}

// Reflection is the Index of the comment on a mirror, which is stored as an answer.
const Reflection = -1

// Answer is the answer to one question. There is at most one for each step and index.
type Answer struct {
	Step  Step      `json:"step"`
	Index int       `json:"index"` // of the question, from 0, or Reflection
	Text  string    `json:"text"`
	At    time.Time `json:"at"`
	// Message is the Seq of the message with the answer.
	Message int `json:"message"`
}

// Kind is the kind of a message.
type Kind string

// The kinds of Message. A message of the candidate has the kind of the message that it
// replies to.
const (
	KindTone     Kind = "tone"
	KindPreamble Kind = "preamble"
	KindQuestion Kind = "question" // contains exactly one question
	KindMirror   Kind = "mirror"
	KindMatching Kind = "matching"
	KindOther    Kind = "other" // identity, final profile
)

// NoQuestion is the Question of a message that is not about a question.
const NoQuestion = -1

// Message is one message of the service or of the candidate.
type Message struct {
	Seq  int      `json:"seq"` // from 1 in order; never reused
	Role llm.Role `json:"role"`
	Kind Kind     `json:"kind"`
	Step Step     `json:"step"`
	// Question is the index of the question that is asked or answered, or NoQuestion.
	Question int    `json:"question"`
	Text     string `json:"text"`
	// Tokens is the number of tokens of Text.
	Tokens int       `json:"tokens"`
	At     time.Time `json:"at"`
	// Call is the number of the call that wrote the text; 0 if no model wrote it.
	Call int `json:"call,omitempty"`
}

// ID returns the id of the message for clients.
func (m Message) ID() string { return MessageID(m.Seq) }

// MessageID returns the id of the message with a Seq.
func MessageID(seq int) string { return "m" + strconv.Itoa(seq) }

// Purpose is the purpose of a call.
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

// Outcome is the outcome of a call.
type Outcome string

// The outcomes of a Call.
const (
	Begun    Outcome = "begun"    // no outcome yet
	Accepted Outcome = "accepted" // its text was used
	Rejected Outcome = "rejected" // its text did not validate
	Broken   Outcome = "broken"   // it failed in transport
	Lost     Outcome = "lost"     // the process died during the call; whether it was paid is unknown
)

// Call is one entry of the ledger, which is written before the call begins.
type Call struct {
	N       int     `json:"n"` // from 1
	Purpose Purpose `json:"purpose"`
	Step    Step    `json:"step"`
	// Index is the index of the question, for PurposeAdaptive.
	Index   int     `json:"index,omitempty"`
	Attempt int     `json:"attempt"` // for the same message, from 1
	Outcome Outcome `json:"outcome"`
	// Repeats is the number of the lost call that this one repeats; 0 if none.
	Repeats int           `json:"repeats,omitempty"`
	At      time.Time     `json:"at"`
	Latency time.Duration `json:"latency_ns,omitempty"`
	Model   string        `json:"model,omitempty"`
	// Counted is our own token count, and Reported the usage reported by the backend; nil if it
	// reported none. See Disagrees.
	Counted  llm.Usage  `json:"counted"`
	Reported *llm.Usage `json:"reported,omitempty"`
	// Cost is in the currency of the price table; nil if it is unknown.
	Cost *quantity.Money `json:"cost,omitempty"`
	// Fault is the llm.ErrorKind of a broken call, or the rule broken by a rejected text; Detail
	// describes it for a person.
	Fault  string `json:"fault,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Warnings about an accepted text.
	Warnings []string `json:"warnings,omitempty"`
	// Prompt identifies the prompts by version and hash.
	Prompt string `json:"prompt"`
	// Sent and Trimmed are the numbers of messages of the history that were sent and omitted.
	Sent    int `json:"sent"`
	Trimmed int `json:"trimmed,omitempty"`
}

// Used returns the reported tokens, or our own count if the backend reported none.
func (c Call) Used() llm.Usage {
	if c.Reported != nil {
		return *c.Reported
	}
	return c.Counted
}

// Billed returns the tokens that determine the cost: those of Used, or none for a broken call
// without reported usage.
func (c Call) Billed() llm.Usage {
	if c.Outcome == Broken && c.Reported == nil {
		return llm.Usage{}
	}
	return c.Used()
}

// Disagrees reports whether the reported usage differs from our own count by more than 1 % and by
// more than the framing of messages: providers add up to about five tokens to each message.
func (c Call) Disagrees() bool {
	if c.Reported == nil {
		return false
	}
	const perMessage, instructions = 5, 4 // the maximum of messages in addition to Sent
	far := func(a, b, framing int) bool {
		diff := max(a-b, b-a)
		return diff > framing && diff*100 > max(a, b)
	}
	return far(c.Counted.Total()-c.Counted.Output, c.Reported.Total()-c.Reported.Output, perMessage*(c.Sent+instructions)) ||
		far(c.Counted.Output, c.Reported.Output, perMessage)
}
