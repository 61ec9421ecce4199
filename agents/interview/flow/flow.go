// Package flow is the state machine of an interview: pure transitions from a
// session and an input to the next session and what follows from it. It knows
// neither models nor stores nor the wall clock.
package flow

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// Input is what moves an interview: Answered, Went, Replied.
type Input interface{ input() }

// Answered is text that the candidate wrote. It is not empty.
type Answered struct{ Text string }

// Went is the candidate's word to go on.
type Went struct{}

// Replied is the validated reply of a model to what is owed.
type Replied struct {
	// Questions are those of a batch, for PurposeQuestions.
	Questions []string
	// Text is the reply, for all other purposes.
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
	Kind     session.Kind
	Step     session.Step
	Question int // index, or session.NoQuestion
	Fixed    Fixed
	Text     string
	Call     int
}

// Move is the outcome of a transition.
type Move struct {
	// Session is the next state; only Step, Phase, Owed, Register, Medium, Works,
	// CoreWork and Queue may differ.
	Session session.Session
	// Heard is the candidate's message; nil where the input is not the
	// candidate's. Its Seq, Tokens and time are for the caller to set.
	Heard *session.Message
	// Answer is what is kept of it; nil where it answers nothing.
	Answer *session.Answer
	// Say is the message that the candidate sees next; nil while one is owed.
	Say *Utterance
	// Queue is the queue that changed, or nil.
	Queue *session.Queue
}

// ErrOrder means that the input does not fit the phase: nothing changes.
var ErrOrder = errors.New("out of order")

// Start is the state of a new session and the first thing that is said.
func Start(s session.Session) Move {
	s.Step, s.Phase = session.Identity, session.Asking
	return Move{Session: s, Say: &Utterance{
		Kind: session.KindOther, Step: session.Identity, Question: session.NoQuestion, Fixed: FixedIdentity,
	}}
}

// Next is the transition function. The session that is given is not changed.
// Inputs that do not fit the phase fail with ErrOrder.
func Next(s session.Session, in Input, now time.Time) (Move, error) {
	m := Move{Session: s}
	if s.Queue != nil {
		queue := *s.Queue
		queue.Questions = slices.Clone(queue.Questions)
		m.Session.Queue = &queue
	}
	switch in := in.(type) {
	case Answered:
		if s.Phase == session.Asking || s.Phase == session.Reflecting {
			m.hear(in.Text)
			m.answered(in.Text, now)
			return m, nil
		}
	case Went:
		switch s.Phase {
		case session.Waiting:
			m.proceed()
			return m, nil
		case session.Reflecting:
			m.proceed()
			return m, nil
		}
	case Replied:
		if s.Phase == session.Owing && s.Owed != nil {
			m.replied(in, now)
			return m, nil
		}
	}
	return Move{}, fmt.Errorf("%w: %T while the interview is %s at %s", ErrOrder, in, s.Phase, s.Step)
}

// hear keeps what the candidate wrote, whatever becomes of it.
func (m *Move) hear(text string) {
	s := &m.Session
	heard := &session.Message{Role: llm.User, Kind: session.KindOther, Step: s.Step, Question: session.NoQuestion, Text: text}
	switch {
	case s.Phase == session.Reflecting:
		heard.Kind = session.KindMirror
	case s.Step == session.Tone:
		heard.Kind = session.KindTone
	case s.Queue != nil:
		heard.Kind, heard.Question = session.KindQuestion, s.Queue.Cursor
	}
	m.Heard = heard
}

// keep makes what was heard an answer.
func (m *Move) keep(index int, now time.Time) {
	m.Answer = &session.Answer{Step: m.Session.Step, Index: index, Text: m.Heard.Text, At: now}
}

func (m *Move) answered(text string, now time.Time) {
	s := &m.Session
	switch {
	case s.Phase == session.Reflecting:
		m.keep(session.Reflection, now)
		m.proceed()
	case s.Step == session.Identity:
		m.keep(0, now)
		s.Step = session.Tone
		m.say(session.KindTone, FixedTone)
	case s.Step == session.Tone:
		register, ok := ParseRegister(text, s.Language)
		if !ok {
			m.say(session.KindTone, FixedToneNew)
			return
		}
		m.keep(0, now)
		s.Register, s.Step = register, session.Preamble
		m.owe(session.PurposePreamble, 0)
	case s.Step == session.Block2A:
		m.adaptive(text, now)
	default:
		m.keep(s.Queue.Cursor, now)
		if m.advance(now); s.Queue.Complete {
			m.owe(session.PurposeMirror, 0)
		} else {
			m.ask("")
		}
	}
}

// adaptive handles the answers of block 2A, each of which decides the next
// question.
func (m *Move) adaptive(text string, now time.Time) {
	s := &m.Session
	index := s.Queue.Cursor
	switch index {
	case 0:
		medium, ok := ParseMedium(text)
		if !ok {
			m.ask(FixedMedium)
			return
		}
		s.Medium = medium
	case 1:
		s.Works = ParseWorks(text)
	default:
		s.CoreWork = ParseCore(text, s.Works)
	}
	m.keep(index, now)
	s.Queue.Cursor++
	m.Queue = s.Queue
	if index < 2 {
		m.owe(session.PurposeAdaptive, index+1)
		return
	}
	s.Queue.Complete, s.Queue.Completed = true, now
	s.Step, s.Queue = session.Block2B, nil
	m.owe(session.PurposeQuestions, 0)
}

// advance moves the cursor past the question that was answered.
func (m *Move) advance(now time.Time) {
	q := m.Session.Queue
	q.Cursor++
	if q.Cursor == len(q.Questions) {
		q.Complete, q.Completed = true, now
	}
	m.Queue = q
}

// proceed goes to the next step and owes its first message.
func (m *Move) proceed() {
	s := &m.Session
	s.Step, s.Queue = s.Step.Next(), nil
	switch s.Step {
	case session.Block2A:
		m.owe(session.PurposeAdaptive, 0)
	case session.Block10:
		m.owe(session.PurposeProfile, 0)
	case session.Matching:
		m.owe(session.PurposeMatching, 0)
	default:
		m.owe(session.PurposeQuestions, 0)
	}
}

func (m *Move) owe(p session.Purpose, index int) {
	m.Session.Phase = session.Owing
	m.Session.Owed = &session.Owed{Purpose: p, Index: index}
}

func (m *Move) say(kind session.Kind, fixed Fixed) {
	m.Session.Phase = session.Asking
	m.Say = &Utterance{Kind: kind, Step: m.Session.Step, Question: session.NoQuestion, Fixed: fixed}
}

// ask shows the question under the cursor.
func (m *Move) ask(fixed Fixed) {
	s := &m.Session
	s.Phase = session.Asking
	m.Say = &Utterance{
		Kind: session.KindQuestion, Step: s.Step, Question: s.Queue.Cursor,
		Fixed: fixed, Text: s.Queue.Questions[s.Queue.Cursor],
	}
}

func (m *Move) replied(in Replied, now time.Time) {
	s := &m.Session
	owed := s.Owed
	s.Owed = nil
	show := func(kind session.Kind, next session.Phase) {
		s.Phase = next
		m.Say = &Utterance{Kind: kind, Step: s.Step, Question: session.NoQuestion, Text: in.Text}
	}
	switch owed.Purpose {
	case session.PurposePreamble:
		show(session.KindPreamble, session.Waiting)
	case session.PurposeQuestions:
		s.Queue = &session.Queue{Step: s.Step, Questions: slices.Clone(in.Questions), Generated: now}
		m.Queue = s.Queue
		m.ask("")
	case session.PurposeAdaptive:
		if s.Queue == nil {
			s.Queue = &session.Queue{Step: s.Step, Generated: now}
		}
		s.Queue.Questions = append(s.Queue.Questions[:owed.Index], in.Text)
		s.Queue.Cursor = owed.Index
		m.Queue = s.Queue
		m.ask("")
	case session.PurposeMirror:
		show(session.KindMirror, session.Reflecting)
	case session.PurposeProfile:
		show(session.KindOther, session.Waiting)
	case session.PurposeMatching:
		show(session.KindMatching, session.Finished)
	}
	m.Say.Call = in.Call
}
