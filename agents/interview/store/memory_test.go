package store_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

var _ = Describe("Memory", func() {
	sessionContract(func(SpecContext) session.Store { return new(store.Memory) })

	It("sums up what was spent on a day, in total and by address", func(ctx SpecContext) {
		m := new(store.Memory)
		Expect(m.Create(ctx, session.Session{ID: "a"}, session.Change{Spent: []session.Spending{
			{Day: "2026-03-01", Calls: 1, MicroEUR: 10}, {Day: "2026-03-01", Address: "x", Calls: 2, MicroEUR: 20},
		}})).To(Succeed())
		Expect(m.SpentOn(ctx, "2026-03-01", "")).To(Equal(session.Spending{Day: "2026-03-01", Calls: 3, MicroEUR: 30}))
		Expect(m.SpentOn(ctx, "2026-03-01", "x")).To(Equal(session.Spending{Day: "2026-03-01", Address: "x", Calls: 2, MicroEUR: 20}))
		Expect(m.SpentOn(ctx, "2026-03-02", "")).To(Equal(session.Spending{Day: "2026-03-02"}))
	})

	It("forks into copies that do not see each other's changes", func(ctx SpecContext) {
		original := new(store.Memory)
		change := func(m *store.Memory, version int64, text string, outcome session.Outcome) {
			GinkgoHelper()
			_, err := m.Commit(ctx, session.Session{ID: "a", Version: version, Candidate: text, Step: session.Tone}, session.Change{
				Submission: text,
				Messages:   []session.Message{{Seq: int(version) + 1, Text: text}},
				Answers:    []session.Answer{{Index: int(version), Text: text, Message: int(version) + 1}},
				Queue:      &session.Queue{Step: session.Tone, Questions: []string{text}},
				Calls:      []session.Call{{N: 1, Outcome: outcome}, {N: int(version) + 1}},
				Spent:      []session.Spending{{Day: "2026-03-01", Calls: 1}},
			})
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(original.Create(ctx, session.Session{ID: "a"}, session.Change{Messages: []session.Message{{Seq: 1}}})).To(Succeed())
		change(original, 1, "before", session.Begun)
		one, two := original.Fork(), original.Fork()
		before := snapshot(ctx, original, "a")
		change(one, 2, "one", session.Accepted)
		Expect(snapshot(ctx, two, "a")).To(Equal(before))
		change(two, 2, "two", session.Rejected)
		Expect(two.Create(ctx, session.Session{ID: "b"}, session.Change{})).To(Succeed())
		Expect(snapshot(ctx, original, "a")).To(Equal(before))
		for m, text := range map[*store.Memory]string{one: "one", two: "two"} {
			got := snapshot(ctx, m, "a")
			Expect(got.Session.Candidate).To(Equal(text))
			Expect(got.Session.Queue.Questions).To(HaveExactElements(text))
			Expect(got.Messages).To(HaveExactElements(HaveField("Seq", 1), HaveField("Text", "before"), HaveField("Text", text)))
			Expect(got.Answers).To(HaveExactElements(HaveField("Text", "before"), HaveField("Text", text)))
			Expect(got.Calls).To(HaveLen(3))
			Expect(m.SpentOn(ctx, "2026-03-01", "")).To(HaveField("Calls", 2))
			Expect(m.Submitted(ctx, "a", "before")).To(BeTrue())
		}
		Expect(one.Submitted(ctx, "a", "two")).To(BeFalse())
		_, err := one.Load(ctx, "b")
		Expect(err).To(MatchError(session.ErrNotFound))
		Expect(original.SpentOn(ctx, "2026-03-01", "")).To(HaveField("Calls", 1))
	})
})
