package store_test

import (
	"context"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// model is the reference implementation of a store: plain maps in memory.
type model map[string]*modelSession

type modelSession struct {
	everything
	submissions []string
}

func (m model) create(n session.Session, c session.Change) error {
	if m[n.ID] != nil {
		return session.ErrConflict
	}
	n.Version = 1
	m[n.ID] = &modelSession{}
	m[n.ID].take(n, c)
	return nil
}

func (m model) commit(n session.Session, c session.Change) error {
	k := m[n.ID]
	switch {
	case k == nil:
		return session.ErrNotFound
	case k.Session.Version != n.Version, c.Submission != "" && slices.Contains(k.submissions, c.Submission):
		return session.ErrConflict
	}
	for _, a := range c.Answers {
		if slices.ContainsFunc(k.Answers, func(b session.Answer) bool { return a.Step == b.Step && a.Index == b.Index }) {
			return session.ErrConflict
		}
	}
	n.Version++
	k.take(n, c)
	return nil
}

func (k *modelSession) take(n session.Session, c session.Change) {
	k.Session = n
	k.submissions = append(k.submissions, c.Submission)
	k.Messages = append(k.Messages, c.Messages...)
	k.Answers = append(k.Answers, c.Answers...)
	if q := c.Queue; q != nil {
		k.Queues = slices.DeleteFunc(k.Queues, func(old session.Queue) bool { return old.Step == q.Step })
		k.Queues = append(k.Queues, *q)
	}
	for _, call := range c.Calls {
		k.Calls = slices.DeleteFunc(k.Calls, func(old session.Call) bool { return old.N == call.N })
		k.Calls = append(k.Calls, call)
	}
	slices.SortFunc(k.Queues, func(a, b session.Queue) int {
		return slices.Index(session.Steps(), a.Step) - slices.Index(session.Steps(), b.Step)
	})
	slices.SortFunc(k.Calls, func(a, b session.Call) int { return a.N - b.N })
	k.Session.Queue = nil
	for i := range k.Queues {
		if k.Queues[i].Step == n.Step {
			k.Session.Queue = &k.Queues[i]
		}
	}
}

// drawn makes a change of few values, so that many of them meet.
func drawn(t *rapid.T, version int64, messages int) session.Change {
	step := rapid.SampledFrom(session.Steps())
	c := session.Change{
		Submission: rapid.SampledFrom([]string{"", "s1", "s2", fmt.Sprint("of version ", version)}).Draw(t, "submission"),
		Messages:   []session.Message{{Seq: messages + 1, Step: step.Draw(t, "step"), Text: rapid.String().Draw(t, "text")}},
	}
	if rapid.Bool().Draw(t, "answers") {
		c.Answers = []session.Answer{{
			Step: step.Draw(t, "step"), Index: rapid.IntRange(-1, 3).Draw(t, "index"), Message: messages + 1,
		}}
	}
	if rapid.Bool().Draw(t, "queues") {
		c.Queue = &session.Queue{Step: step.Draw(t, "step"), Cursor: rapid.IntRange(0, 3).Draw(t, "cursor")}
	}
	if rapid.Bool().Draw(t, "calls") {
		c.Calls = []session.Call{{N: rapid.IntRange(1, 5).Draw(t, "call"), Step: step.Draw(t, "step")}}
	}
	return c
}

func modelled(open sessionOpener) {
	It("behaves like a map under any sequence of operations", func(ctx SpecContext) {
		s := open(ctx)
		run := 0
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			run++
			m := model{}
			ids := []string{fmt.Sprint(run, "a"), fmt.Sprint(run, "b")}
			for range rapid.IntRange(1, 12).Draw(t, "steps") {
				step(ctx, t, s, m, rapid.SampledFrom(ids).Draw(t, "session"))
			}
		})
	})
}

// step does one thing to the store and to the model, and compares them.
func step(ctx context.Context, t *rapid.T, s session.Store, m model, id string) {
	GinkgoHelper()
	n := session.Session{ID: id, Candidate: "c", Created: start, Step: rapid.SampledFrom(session.Steps()).Draw(t, "at")}
	messages := 0
	if k := m[id]; k != nil {
		n.Version, messages = k.Session.Version, len(k.Messages)
	}
	c := drawn(t, n.Version, messages)
	var got, want error
	if rapid.IntRange(0, 3).Draw(t, "create") == 0 {
		got, want = s.Create(ctx, n, c), m.create(n, c)
	} else {
		n.Version += int64(rapid.SampledFrom([]int{0, 0, 0, -1, 1}).Draw(t, "off by"))
		_, got = s.Commit(ctx, n, c)
		want = m.commit(n, c)
	}
	if want == nil {
		Expect(got).NotTo(HaveOccurred())
	} else {
		Expect(got).To(MatchError(want))
	}
	all, err := readAll(ctx, s, id)
	if m[id] == nil {
		Expect(err).To(MatchError(session.ErrNotFound))
		return
	}
	Expect(err).NotTo(HaveOccurred())
	Expect(all).To(BeComparableTo(m[id].everything))
	for _, submission := range []string{"s1", "s2", "s3"} {
		Expect(s.Submitted(ctx, id, submission)).To(Equal(slices.Contains(m[id].submissions, submission)))
	}
}
