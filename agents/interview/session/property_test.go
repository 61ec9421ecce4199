package session_test

import (
	"encoding/json"
	"errors"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// spot is where an answer belongs.
type spot struct {
	step  session.Step
	index int
}

// anyInput draws an input of any kind, whether it fits or not.
func anyInput(t *rapid.T) session.Input {
	texts := []string{"A", "b", "tu", "vous", "Dark, Lost", "le premier", "films", "?", "no", "\xff\x00", "", "  "}
	switch rapid.IntRange(0, 3).Draw(t, "input") {
	case 0:
		return session.Went{}
	case 1:
		return session.Replied{
			Text:      rapid.SampledFrom(texts).Draw(t, "reply"),
			Questions: rapid.SliceOfN(rapid.SampledFrom(texts), 0, 5).Draw(t, "batch"),
		}
	}
	return session.Answered{Text: rapid.SampledFrom(texts).Draw(t, "answer")}
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// whole returns a session with the queue, which its own encoding leaves out.
func whole(s session.Session) string { return encoded(s) + encoded(s.Queue) }

var _ = Describe("Any walk through an interview", Label("I-04", "I-18"), func() {
	It("asks each question once, in order, and answers it once", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			w := begin(rapid.IntRange(1, 9).Draw(t, "batch"))
			answered := map[spot]bool{}
			shown := spot{session.Identity, 0}
			for range 400 {
				in := w.fitting()
				if in == nil {
					break
				}
				if rapid.IntRange(0, 3).Draw(t, "fits") == 0 {
					in = anyInput(t)
				}
				before := w.Session
				image := whole(before)
				m, err := w.move(in)
				if got := whole(before); got != image {
					t.Fatalf("Next changed its argument\n%s\n%s", image, got)
				}
				if err != nil {
					if whole(w.Session) != image || !errors.Is(err, session.ErrInput) {
						t.Fatalf("%v", err)
					}
					continue
				}
				if a := m.Answer; a != nil {
					here := spot{a.Step, a.Index}
					if answered[here] {
						t.Fatalf("%v answered twice", here)
					}
					answered[here] = true
				}
				if m.Say == nil || m.Say.Kind != session.KindQuestion {
					continue
				}
				next, again := spot{m.Say.Step, m.Say.Question}, m.Fixed == "medium_again"
				switch {
				case again && next != shown:
					t.Fatalf("%v asked again as %v", shown, next)
				case !again && next.step == shown.step && next.index != shown.index+1:
					t.Fatalf("%v asked after %v", next, shown)
				case !again && next.step != shown.step && next.index != 0:
					t.Fatalf("%v asked first", next)
				case !again && answered[next]:
					t.Fatalf("%v asked after it was answered", next)
				}
				shown = next
			}
		})
	})

	It("owes 24 calls if it ends, and keeps an answer for each question", Label("I-13"), func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			w := begin(rapid.IntRange(1, 9).Draw(t, "batch"))
			for !over(w) {
				in := w.fitting()
				if rapid.Bool().Draw(t, "silly") {
					if silly, ok := anyInput(t).(session.Answered); ok {
						in = silly
					}
				}
				if _, err := w.move(in); err != nil {
					if _, err = w.move(w.fitting()); err != nil {
						t.Fatal(err)
					}
				}
			}
			questions := 0
			for _, a := range w.answers {
				if a.Index >= 0 && a.Step.Block() > 0 {
					questions++
				}
			}
			if want := 8*w.batch + w.batch + 3; len(w.calls) != 24 || questions != want {
				t.Fatalf("%d calls, %d answers of %d", len(w.calls), questions, want)
			}
		})
	})
})

var _ = Describe("Any session, however damaged", func() {
	It("is refused or goes on to a state that goes on", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			s := anySession(t)
			image := whole(s)
			m, err := session.Next(s, anyInput(t), noon)
			if whole(s) != image {
				t.Fatal("Next changed its argument")
			}
			if err != nil {
				return
			}
			w := &walk{Session: m.Session, batch: 2}
			for !over(w) {
				if _, err := w.move(w.fitting()); err != nil {
					t.Fatalf("from %s: %v", image, err)
				}
			}
		})
	})
})

// anySession draws the parts of a session without regard to each other.
func anySession(t *rapid.T) session.Session {
	steps := append(session.Steps(), "", "BLOC_02")
	s := session.Session{
		Step:  rapid.SampledFrom(steps).Draw(t, "step"),
		Phase: rapid.SampledFrom([]session.Phase{session.Asking, session.Reflecting, session.Waiting, session.Owing, session.Finished, ""}).Draw(t, "phase"),
	}
	if rapid.Bool().Draw(t, "owes") {
		s.Owed = &session.Owed{
			Purpose: rapid.SampledFrom(append(session.Purposes(), "")).Draw(t, "purpose"),
			Index:   rapid.IntRange(-1, 4).Draw(t, "index"),
		}
	}
	if rapid.Bool().Draw(t, "queues") {
		s.Queue = &session.Queue{
			Step:      s.Step,
			Questions: rapid.SliceOfN(rapid.SampledFrom([]string{"q", ""}), 0, 4).Draw(t, "questions"),
			Cursor:    rapid.IntRange(-1, 5).Draw(t, "cursor"),
			Complete:  rapid.Bool().Draw(t, "complete"),
		}
		if rapid.Bool().Draw(t, "elsewhere") {
			s.Queue.Step = rapid.SampledFrom(steps).Draw(t, "queue of")
		}
	}
	return s
}

// BenchmarkNext makes the transitions of a whole interview.
func BenchmarkNext(b *testing.B) {
	for b.Loop() {
		w := begin(3)
		for w.Phase != session.Finished {
			if _, err := w.move(w.fitting()); err != nil {
				b.Fatal(err)
			}
		}
	}
}
