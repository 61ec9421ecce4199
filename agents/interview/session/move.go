package session

import (
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
)

// The questions of block 2A, by index. Each one is a separate call, because it depends on the
// previous answer.
const (
	askMedium = iota // series or films
	askWorks         // favorite works
	askCore          // the work that matters most
	adaptiveQuestions
)

// recordMessage records the message of the candidate, whether or not it is an answer.
func (m *Move) recordMessage(text string) {
	s := &m.Session
	m.Heard = &Message{
		Role: llm.User, Kind: KindOther, Step: s.Step, Question: NoQuestion, Text: text,
	}
	switch {
	case s.Phase == Reflecting:
		m.Heard.Kind = KindMirror
	case s.Step == Tone:
		m.Heard.Kind = KindTone
	case s.Queue != nil:
		m.Heard.Kind, m.Heard.Question = KindQuestion, s.Queue.Cursor
	}
}

func (m *Move) recordAnswer(index int, now time.Time) {
	m.Answer = &Answer{Step: m.Session.Step, Index: index, Text: m.Heard.Text, At: now}
}

// answered handles the message of the candidate.
func (m *Move) answered(now time.Time) {
	s := &m.Session
	switch {
	case s.Phase == Reflecting:
		m.recordAnswer(Reflection, now)
		m.proceed()
	case s.Step == Identity:
		m.recordAnswer(0, now)
		s.Step = Tone
		m.askFixed(KindTone, fixedTone)
	case s.Step == Tone:
		m.tone(now)
	case s.Step == Block2A:
		m.adaptive(now)
	default:
		m.recordAnswer(s.Queue.Cursor, now)
		if last := m.advance(len(s.Queue.Questions), now); last {
			m.owe(PurposeMirror, 0)
		} else {
			m.ask("")
		}
	}
}

// The defaults after a second answer without a choice.
const (
	defaultRegister = Formal
	defaultMedium   = Film
)

// askAgain counts an answer without a choice, and reports whether to repeat the question. After
// the second such answer the default applies.
func (m *Move) askAgain() bool {
	m.Session.Unread++
	return m.Session.Unread == 1
}

// tone handles the answer to the question how to be addressed.
func (m *Move) tone(now time.Time) {
	register, ok := parseRegister(m.Heard.Text)
	if !ok {
		if m.askAgain() {
			m.askFixed(KindTone, fixedToneAgain)
			return
		}
		register = defaultRegister
	}
	m.Session.Unread = 0
	m.recordAnswer(0, now)
	m.Session.Register, m.Session.Step = register, Preamble
	m.owe(PurposePreamble, 0)
}

// adaptive handles the answers of block 2A, each of which determines the next question.
func (m *Move) adaptive(now time.Time) {
	s, text := &m.Session, m.Heard.Text
	index := s.Queue.Cursor
	switch index {
	case askMedium:
		medium, ok := parseMedium(text)
		if !ok {
			if m.askAgain() {
				m.ask(fixedMediumAgain)
				return
			}
			medium = defaultMedium
		}
		s.Medium, s.Unread = medium, 0
	case askWorks:
		s.Works = ParseWorks(text)
	case askCore:
		s.CoreWork = parseCore(text, s.Works)
	}
	m.recordAnswer(index, now)
	if last := m.advance(adaptiveQuestions, now); last {
		m.proceed()
	} else {
		m.owe(PurposeAdaptive, index+1)
	}
}

// advance moves the cursor past the answered question, and reports whether it was the last one.
func (m *Move) advance(questions int, now time.Time) bool {
	q := m.Session.Queue
	q.Cursor++
	if q.Cursor == questions {
		q.Complete, q.Completed = true, now
	}
	m.Queue = q
	return q.Complete
}

// proceed enters the next step and owes its first message.
func (m *Move) proceed() {
	s := &m.Session
	s.Step, s.Queue = s.Step.Next(), nil
	m.owe(s.Step.Calls()[0], 0)
}

func (m *Move) owe(p Purpose, index int) {
	m.Session.Phase = Owing
	m.Session.Owed = &Owed{Purpose: p, Index: index}
}

// replied shows the message that was owed.
func (m *Move) replied(in Replied, now time.Time) {
	s := &m.Session
	owed := s.Owed
	s.Owed = nil
	switch owed.Purpose {
	case PurposeQuestions:
		m.enqueue(now, in.Questions...)
		m.ask("")
	case PurposeAdaptive:
		m.enqueue(now, in.Text)
		m.ask("")
	case PurposePreamble:
		m.show(KindPreamble, in.Text, Waiting)
	case PurposeMirror:
		m.show(KindMirror, in.Text, Reflecting)
	case PurposeProfile:
		m.show(KindOther, in.Text, Waiting)
	case PurposeMatching:
		m.show(KindMatching, in.Text, Finished)
	}
	m.Say.Call = in.Call
}

// enqueue appends questions to the queue of the step.
func (m *Move) enqueue(now time.Time, questions ...string) {
	s := &m.Session
	if s.Queue == nil {
		s.Queue = &Queue{Step: s.Step, Generated: now}
	}
	s.Queue.Questions = slices.Concat(s.Queue.Questions, questions)
	m.Queue = s.Queue
}

// ask shows the question at the cursor, after an optional fixed text.
func (m *Move) ask(first Fixed) {
	q := m.Session.Queue
	m.show(KindQuestion, q.Questions[q.Cursor], Asking)
	m.Say.Question, m.Fixed = q.Cursor, first
}

// askFixed asks a question that is a fixed text.
func (m *Move) askFixed(kind Kind, f Fixed) {
	m.show(kind, "", Asking)
	m.Fixed = f
}

func (m *Move) show(kind Kind, text string, next Phase) {
	m.Session.Phase = next
	m.Say = &Message{Role: llm.Assistant, Kind: kind, Step: m.Session.Step, Question: NoQuestion, Text: text}
}
