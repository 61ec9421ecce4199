package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Input is an input of the state machine: Answered, Went or Replied.
type Input interface{ input() }

// Answered is a text of the candidate, which must not be blank.
type Answered struct{ Text string }

// Went is the request of the candidate to continue.
type Went struct{}

// Replied is the validated reply of a model for the owed message.
type Replied struct {
	// Questions are the questions of a batch, for PurposeQuestions: at least one, none blank.
	Questions []string
	// Text is the reply, for all other purposes. It must not be blank.
	Text string
	// Call is the number of the call.
	Call int
}

func (Answered) input() {}
func (Went) input()     {}
func (Replied) input()  {}

// Fixed names a fixed text of the prompts, which no model writes.
type Fixed string

// The fixed texts.
const (
	FixedIdentity Fixed = "identity"     // asks who the candidate is
	FixedTone     Fixed = "tone"         // asks how to be addressed
	FixedToneNew  Fixed = "tone_again"   // asks again how to be addressed
	FixedMedium   Fixed = "medium_again" // precedes the question for the medium when it is asked again
)

// Utterance is a message of the service: Fixed, Text, or Fixed followed by Text.
type Utterance struct {
	Kind     Kind
	Step     Step
	Question int // index, or NoQuestion
	Fixed    Fixed
	Text     string
	Call     int
}

// Move is the outcome of a transition.
type Move struct {
	// Session is the next state; only Step, Phase, Owed, Register, Medium, Works,
	// CoreWork, Unread and Queue may differ.
	Session Session
	// Heard is the message of the candidate, or nil if the input came from a model. The
	// caller sets Seq, Tokens and time.
	Heard *Message
	// Answer is the answer that Heard gives, or nil.
	Answer *Answer
	// Say is the next message to the candidate, or nil if one is owed.
	Say *Utterance
	// Queue is the queue that changed, or nil. It may be Session.Queue.
	Queue *Queue
}

// The errors of Next, after which nothing has changed.
var (
	// ErrOrder means that the input does not fit the phase.
	ErrOrder = errors.New("out of order")
	// ErrBlank means that the input has no text.
	ErrBlank = errors.New("the text is blank")
	// ErrState means that the session is in a state that cannot be reached, because the stored
	// data is damaged.
	ErrState = errors.New("the state of the interview is damaged")
)

// Start returns the state of a new session and the first message.
func Start(s Session) Move {
	s.Step, s.Owed, s.Queue = Identity, nil, nil
	m := Move{Session: s}
	m.fixed(KindOther, FixedIdentity)
	return m
}

// Next returns the transition from s by an input. It does not change s. Its errors are
// ErrOrder, ErrBlank and ErrState.
func Next(s Session, in Input, now time.Time) (Move, error) {
	if err := checkState(s); err != nil {
		return Move{}, fmt.Errorf("%w: %w; restore the session %q from a backup", ErrState, err, s.ID)
	}
	if !fits(s.Phase, in) {
		return Move{}, fmt.Errorf("%w: %s while the interview is %s at %s", ErrOrder, inputName(in), s.Phase, s.Step)
	}
	m := Move{Session: s}
	if s.Queue != nil {
		queue := *s.Queue
		m.Session.Queue = &queue
	}
	switch in := in.(type) {
	case Answered:
		if isBlank(in.Text) {
			return Move{}, fmt.Errorf("%w: an answer at %s", ErrBlank, s.Step)
		}
		m.hear(in.Text)
		m.answered(now)
	case Went:
		m.proceed()
	case Replied:
		if texts := in.texts(s.Owed.Purpose); len(texts) == 0 || slices.ContainsFunc(texts, isBlank) {
			return Move{}, fmt.Errorf("%w: a reply for %s at %s", ErrBlank, s.Owed.Purpose, s.Step)
		}
		m.replied(in, now)
	}
	return m, nil
}

// fits reports whether a phase accepts an input.
func fits(p Phase, in Input) bool {
	switch in.(type) {
	case Answered:
		return p == Asking || p == Reflecting
	case Went:
		return p == Waiting || p == Reflecting
	case Replied:
		return p == Owing
	}
	return false
}

// inputName describes an input in messages.
func inputName(in Input) string {
	switch in.(type) {
	case Answered:
		return "an answer"
	case Went:
		return "a request to continue"
	case Replied:
		return "a reply"
	}
	return "no input"
}

// texts returns the texts of a reply for a purpose.
func (r Replied) texts(p Purpose) []string {
	if p == PurposeQuestions {
		return r.Questions
	}
	return []string{r.Text}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
