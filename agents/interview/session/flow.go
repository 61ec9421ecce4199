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

// Fixed is the name of a fixed text of the prompts.
type Fixed string

// The fixed texts.
const (
	fixedIdentity    Fixed = "identity"     // asks who the candidate is
	fixedTone        Fixed = "tone"         // asks how to be addressed
	fixedToneAgain   Fixed = "tone_again"   // repeats that question
	fixedMediumAgain Fixed = "medium_again" // precedes the repeated question for the medium
)

// FixedTexts lists the names of the fixed texts.
func FixedTexts() []Fixed { return []Fixed{fixedIdentity, fixedTone, fixedToneAgain, fixedMediumAgain} }

// Move is the outcome of a transition.
type Move struct {
	// Session is the next state; only Step, Phase, Owed, Register, Medium, Works,
	// CoreWork, Unread and Queue may differ.
	Session Session
	// Heard is the message of the candidate; nil if the input came from a model.
	Heard *Message
	// Answer is the answer in Heard; nil if it contains none.
	Answer *Answer
	// Say is the next message to the candidate; nil if one is owed. The caller sets Seq, Tokens
	// and At of both messages.
	Say *Message
	// Fixed is the fixed text that Say begins with, in front of Say.Text; empty for none.
	Fixed Fixed
	// Queue is the queue that changed; nil if none did. It may be Session.Queue.
	Queue *Queue
}

// ErrInput means that Next does not accept the input in this state.
var ErrInput = errors.New("unexpected input")

// Start returns the state of a new session and the first message.
func Start(s Session) Move {
	s.Step, s.Owed, s.Queue = Identity, nil, nil
	m := Move{Session: s}
	m.askFixed(KindOther, fixedIdentity)
	return m
}

// Next returns the transition from s by an input. It does not change s. Any error other than
// ErrInput means that s is damaged.
func Next(s Session, in Input, now time.Time) (Move, error) {
	if err := checkState(s); err != nil {
		return Move{}, fmt.Errorf("the stored state is damaged: %w; restore the session %q from a backup", err, s.ID)
	}
	if !fits(s.Phase, in) {
		return Move{}, fmt.Errorf("%w: %s while the interview is %s at %s", ErrInput, inputName(in), s.Phase, s.Step)
	}
	m := Move{Session: s}
	if s.Queue != nil {
		queue := *s.Queue
		m.Session.Queue = &queue
	}
	switch in := in.(type) {
	case Answered:
		if isBlank(in.Text) {
			return Move{}, fmt.Errorf("%w: a blank answer at %s", ErrInput, s.Step)
		}
		m.recordMessage(in.Text)
		m.answered(now)
	case Went:
		m.proceed()
	case Replied:
		if texts := in.texts(s.Owed.Purpose); len(texts) == 0 || slices.ContainsFunc(texts, isBlank) {
			return Move{}, fmt.Errorf("%w: a blank reply for %s at %s", ErrInput, s.Owed.Purpose, s.Step)
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

func (r Replied) texts(p Purpose) []string {
	if p == PurposeQuestions {
		return r.Questions
	}
	return []string{r.Text}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
