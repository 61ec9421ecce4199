package store_test

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

func roundTrips(open sessionOpener) {
	It("returns every field as it was stored", func(ctx SpecContext) {
		s := open(ctx)
		n := filled[session.Session](0)
		n.Step = n.Queue.Step
		first := session.Change{
			Submission: "s1",
			Messages:   []session.Message{filled[session.Message](100), filled[session.Message](200)},
			Answers:    []session.Answer{filled[session.Answer](300), filled[session.Answer](400)},
			Queue:      n.Queue,
			Calls:      []session.Call{filled[session.Call](500), filled[session.Call](600)},
		}
		Expect(s.Create(ctx, n, first)).To(Succeed())
		n.Version = 1
		Expect(snapshot(ctx, s, n.ID)).To(BeComparableTo(everything{
			Session: n, Messages: first.Messages, Answers: first.Answers,
			Queues: []session.Queue{*n.Queue}, Calls: first.Calls,
		}))

		next := filled[session.Session](1000)
		next.ID, next.Candidate, next.Created, next.Version = n.ID, n.Candidate, n.Created, n.Version
		next.Step = next.Queue.Step
		Expect(next.Step).NotTo(Equal(n.Step))
		second := session.Change{
			Submission: "s2",
			Messages:   []session.Message{filled[session.Message](1100)},
			Answers:    []session.Answer{filled[session.Answer](1200)},
			Queue:      next.Queue,
			Calls:      []session.Call{filled[session.Call](1300)},
		}
		Expect(s.Commit(ctx, next, second)).To(BeEquivalentTo(2))
		next.Version = 2
		queues := []session.Queue{*n.Queue, *next.Queue}
		slices.SortFunc(queues, func(a, b session.Queue) int {
			return slices.Index(session.Steps(), a.Step) - slices.Index(session.Steps(), b.Step)
		})
		Expect(snapshot(ctx, s, n.ID)).To(BeComparableTo(everything{
			Session: next, Messages: append(first.Messages, second.Messages...),
			Answers: append(first.Answers, second.Answers...), Queues: queues,
			Calls: append(first.Calls, second.Calls...),
		}))
		for _, m := range append(first.Messages, second.Messages...) {
			Expect(s.Message(ctx, n.ID, m.Seq)).To(BeComparableTo(m))
		}
		for id, known := range map[string]bool{"s1": true, "s2": true, "s3": false, "": false} {
			Expect(s.Submitted(ctx, n.ID, id)).To(Equal(known), id)
		}
		Expect(s.Submitted(ctx, "another", "s1")).To(BeFalse())
	})
}

func replacements(open sessionOpener) {
	It("preserves empty fields", func(ctx SpecContext) {
		s := open(ctx)
		n := session.Session{ID: "bare", Candidate: "c", Step: session.Identity}
		Expect(s.Create(ctx, n, session.Change{})).To(Succeed())
		n.Version = 1
		Expect(snapshot(ctx, s, "bare")).To(BeComparableTo(everything{Session: n}))
	})

	It("replaces a queue and a call, and returns all in order", func(ctx SpecContext) {
		s := open(ctx)
		n := begin(ctx, s, "a")
		queue := func(step session.Step, cursor int) *session.Queue {
			return &session.Queue{Step: step, Questions: []string{"q1", "q2"}, Cursor: cursor}
		}
		for i, c := range []session.Change{
			{Queue: queue(session.Block10, 1), Calls: []session.Call{{N: 2, Step: session.Tone, Outcome: session.Begun}}},
			{Queue: queue(session.Block1, 0), Calls: []session.Call{{N: 10, Step: session.Tone, Outcome: session.Begun}}},
			{Queue: queue(session.Tone, 2), Messages: []session.Message{{Seq: 10, Step: session.Tone}}},
			{Queue: queue(session.Block1, 1), Messages: []session.Message{{Seq: 9, Step: session.Tone}}},
			{Calls: []session.Call{{N: 2, Step: session.Tone, Outcome: session.Accepted}, {N: 11, Step: session.Tone}}},
			{Answers: []session.Answer{{Step: session.Block1, Index: session.Reflection, Message: 12}}},
			{Answers: []session.Answer{{Step: session.Block2A, Index: 0, Message: 2}, {Step: session.Block1, Message: 11}}},
		} {
			n.Version = int64(i + 1)
			_, err := s.Commit(ctx, n, c)
			Expect(err).NotTo(HaveOccurred())
		}
		got := snapshot(ctx, s, "a")
		Expect(got.Session.Queue).To(Equal(queue(session.Block1, 1)))
		Expect(got.Queues).To(Equal([]session.Queue{
			*queue(session.Tone, 2), *queue(session.Block1, 1), *queue(session.Block10, 1),
		}))
		Expect(got.Calls).To(Equal([]session.Call{
			{N: 2, Step: session.Tone, Outcome: session.Accepted},
			{N: 10, Step: session.Tone, Outcome: session.Begun},
			{N: 11, Step: session.Tone},
		}))
		Expect(got.Messages).To(HaveExactElements(HaveField("Seq", 9), HaveField("Seq", 10)))
		Expect(got.Answers).To(HaveExactElements(HaveField("Message", 2), HaveField("Message", 11), HaveField("Message", 12)))
	})
}

func unknown(open sessionOpener) {
	It("knows nothing of a session that there is not", func(ctx SpecContext) {
		s := open(ctx)
		begin(ctx, s, "a")
		for _, id := range []string{"b", "", "A", "a ", "a\x00", "\xff", strings.Repeat("a", 10_000), "' OR 1=1 --"} {
			_, err := s.Load(ctx, id)
			Expect(err).To(MatchError(session.ErrNotFound), "%q", id)
			_, err = s.Messages(ctx, id)
			Expect(err).To(MatchError(session.ErrNotFound), "%q", id)
			_, err = s.Message(ctx, id, 1)
			Expect(err).To(MatchError(session.ErrNotFound), "%q", id)
			Expect(s.Submitted(ctx, id, "x")).To(BeFalse())
		}
		_, err := s.Commit(ctx, session.Session{ID: "b", Version: 1}, session.Change{})
		Expect(err).To(MatchError(session.ErrNotFound))
		Expect(err).NotTo(MatchError(session.ErrConflict))
		_, err = s.Message(ctx, "a", 1)
		Expect(err).To(MatchError(session.ErrNotFound))
	})
}
