package session_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

func TestSession(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/interview/session")
}

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// walk is an interview in progress with its messages, answers and owed calls, as a
// caller would store them.
type walk struct {
	session.Session
	batch   int // how many questions a batch has
	moves   []session.Move
	calls   []session.Owed
	answers []session.Answer
}

func begin(batch int) *walk {
	w := &walk{batch: batch}
	w.took(session.Start(session.Session{ID: "s", Language: session.French}))
	return w
}

func (w *walk) took(m session.Move) {
	w.Session, w.moves = m.Session, append(w.moves, m)
	if m.Session.Owed != nil {
		w.calls = append(w.calls, *m.Session.Owed)
	}
	if m.Answer != nil {
		w.answers = append(w.answers, *m.Answer)
	}
}

// move applies an input, and stores the resulting move.
func (w *walk) move(in session.Input) (session.Move, error) {
	m, err := session.Next(w.Session, in, noon)
	if err == nil {
		w.took(m)
	}
	return m, err
}

// last returns the newest move.
func (w *walk) last() session.Move { return w.moves[len(w.moves)-1] }

// fitting returns an input that brings the interview forward.
func (w *walk) fitting() session.Input {
	switch w.Phase {
	case session.Asking:
		return session.Answered{Text: w.clear()}
	case session.Reflecting:
		return session.Answered{Text: "that is me"}
	case session.Waiting:
		return session.Went{}
	case session.Owing:
		return w.reply()
	default:
	}
	return nil
}

// clear returns an answer that is understood.
func (w *walk) clear() string {
	switch {
	case w.Step == session.Tone:
		return "tu"
	case w.Step == session.Block2A && w.Queue.Cursor == 0:
		return "A"
	case w.Step == session.Block2A && w.Queue.Cursor == 1:
		return "Dark, Lost, Fargo"
	}
	return "Lost"
}

// reply returns a valid reply to the owed call.
func (w *walk) reply() session.Replied {
	r := session.Replied{Call: len(w.calls)}
	if w.Owed.Purpose != session.PurposeQuestions {
		r.Text = fmt.Sprintf("%s %s %d", w.Step, w.Owed.Purpose, w.Owed.Index)
		return r
	}
	for i := range w.batch {
		r.Questions = append(r.Questions, fmt.Sprintf("%s question %d?", w.Step, i))
	}
	return r
}

// until brings the interview to a place.
func (w *walk) until(at func(*walk) bool) *walk {
	GinkgoHelper()
	for !at(w) {
		in := w.fitting()
		Expect(in).NotTo(BeNil(), "the interview is over")
		_, err := w.move(in)
		Expect(err).NotTo(HaveOccurred())
	}
	return w
}

// to brings a new interview to the first time that a step is in a phase.
func to(step session.Step, phase session.Phase) *walk {
	GinkgoHelper()
	return begin(3).until(func(w *walk) bool { return w.Step == step && w.Phase == phase })
}

func over(w *walk) bool { return w.Phase == session.Finished }
