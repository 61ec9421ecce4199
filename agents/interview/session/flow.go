package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Input is what moves an interview: Answered, Went, Replied.
type Input interface{ input() }

// Answered is text that the candidate wrote. It is not blank.
type Answered struct{ Text string }

// Went is the candidate's word to go on.
type Went struct{}

// Replied is the validated reply of a model to what is owed.
type Replied struct {
	// Questions are those of a batch, for session.PurposeQuestions: one at least,
	// none of them empty.
	Questions []string
	// Text is the reply, for all other purposes. It is not empty.
	Text string
	// Call is the number of the call.
	Call int
}

func (Answered) input() {}
func (Went) input()     {}
func (Replied) input()  {}

// Fixed names a text that no model writes.
type Fixed string

// The fixed texts; each language has its own.
const (
	FixedIdentity Fixed = "identity"     // asks for the name
	FixedTone     Fixed = "tone"         // asks how to be addressed
	FixedToneNew  Fixed = "tone_again"   // the answer did not say
	FixedMedium   Fixed = "medium_again" // the answer named no medium; the question follows
)

// Utterance is a message that the service says: Fixed, or Text, or both, one
// after the other.
type Utterance struct {
	Kind     Kind
	Step     Step
	Question int // index, or session.NoQuestion
	Fixed    Fixed
	Text     string
	Call     int
}

// Move is the outcome of a transition.
type Move struct {
	// Session is the next state; only Step, Phase, Owed, Register, Medium, Works,
	// CoreWork, Unread and Queue may differ.
	Session Session
	// Heard is the candidate's message; nil where the input is not the
	// candidate's. Its Seq, Tokens and time are for the caller to set.
	Heard *Message
	// Answer is what is kept of it; nil where it answers nothing.
	Answer *Answer
	// Say is the message that the candidate sees next; nil while one is owed.
	Say *Utterance
	// Queue is the queue that changed, or nil. It may be Session.Queue.
	Queue *Queue
}

// The errors of Next. With each of them nothing changes.
var (
	// ErrOrder means that the input does not fit the phase.
	ErrOrder = errors.New("out of order")
	// ErrBlank means that the input says nothing.
	ErrBlank = errors.New("there is no text in it")
	// ErrState means that no interview can be where the session says that it is:
	// what was loaded is damaged.
	ErrState = errors.New("the state of the interview is damaged")
)

// Start returns the state of a new session and the first thing that is said.
func Start(s Session) Move {
	s.Step, s.Owed, s.Queue = Identity, nil, nil
	m := Move{Session: s}
	m.fixed(KindOther, FixedIdentity)
	return m
}

// Next returns the transition function. The session that is given is not changed.
// Its errors are ErrOrder, ErrBlank and ErrState.
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
		if said := in.said(s.Owed.Purpose); len(said) == 0 || slices.ContainsFunc(said, isBlank) {
			return Move{}, fmt.Errorf("%w: a reply for %s at %s", ErrBlank, s.Owed.Purpose, s.Step)
		}
		m.replied(in, now)
	}
	return m, nil
}

// fits reports whether an input is one that a phase waits for.
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

// name returns the input's, for people.
func inputName(in Input) string {
	switch in.(type) {
	case Answered:
		return "an answer"
	case Went:
		return "the word to go on"
	case Replied:
		return "a reply"
	}
	return "no input"
}

// said lists the texts that a reply for a purpose consists of.
func (r Replied) said(p Purpose) []string {
	if p == PurposeQuestions {
		return r.Questions
	}
	return []string{r.Text}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
