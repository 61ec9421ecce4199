package store_test

import (
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

func spending(open opener) {
	It("adds up what was spent, on each day and by each address", func(ctx SpecContext) {
		s := open(ctx)
		n := begin(ctx, s, "a")
		for _, spent := range [][]session.Spending{
			{{Day: "2026-03-01", Address: "x", Calls: 1, MicroEUR: 500}},
			{{Day: "2026-03-01", Address: "x", MicroEUR: -100}, {Day: "2026-03-02", Address: "y", Calls: 1, MicroEUR: 7}},
			{{Day: "2026-03-01", Calls: 2}},
		} {
			version, err := s.Commit(ctx, n, session.Change{Spent: spent})
			Expect(err).NotTo(HaveOccurred())
			n.Version = version
		}
		for _, want := range []session.Spending{
			{Day: "2026-03-01", Calls: 3, MicroEUR: 400},
			{Day: "2026-03-01", Address: "x", Calls: 1, MicroEUR: 400},
			{Day: "2026-03-02", Calls: 1, MicroEUR: 7},
			{Day: "2026-03-02", Address: "y", Calls: 1, MicroEUR: 7},
			{Day: "2026-03-01", Address: "y"},
			{Day: "2026-03-03"},
		} {
			Expect(s.SpentOn(ctx, want.Day, want.Address)).To(Equal(want))
		}

		By("keeping the sum of a deleted session")
		Expect(session.Erase(ctx, s, "a")).To(Succeed())
		Expect(s.SpentOn(ctx, "2026-03-01", "")).To(HaveField("Calls", 3))
	})

	It("adds nothing with a change that is refused", func(ctx SpecContext) {
		s := open(ctx)
		n := begin(ctx, s, "a")
		n.Version--
		_, err := s.Commit(ctx, n, session.Change{Spent: []session.Spending{{Day: "2026-03-01", Address: "x", Calls: 1}}})
		Expect(err).To(MatchError(session.ErrConflict))
		Expect(s.SpentOn(ctx, "2026-03-01", "")).To(HaveField("Calls", 0))
		Expect(s.SpentOn(ctx, "2026-03-01", "x")).To(HaveField("Calls", 0))
	})

	It("forgets addresses after two days, and no sum", func(ctx SpecContext) {
		s := open(ctx)
		for i := range 4 {
			at := start.AddDate(0, 0, i)
			n := session.Session{ID: fmt.Sprint(i), Candidate: "c", Step: session.Tone, Created: at}
			Expect(s.Create(ctx, n, session.Change{Spent: []session.Spending{{Day: session.Day(at), Address: "x", Calls: 1}}})).To(Succeed())
		}
		for i, calls := range []int{0, 1, 1, 1} {
			day := session.Day(start.AddDate(0, 0, i))
			Expect(s.SpentOn(ctx, day, "x")).To(HaveField("Calls", calls), day)
			Expect(s.SpentOn(ctx, day, "")).To(HaveField("Calls", 1), day)
		}
	})
}

// spendAtOnce adds 1 call of 10 millionths in each of 25 commits of 8 sessions at once.
func spendAtOnce(ctx SpecContext, servers ...session.Store) {
	GinkgoHelper()
	var all sync.WaitGroup
	for i := range 8 {
		n := begin(ctx, servers[0], fmt.Sprint("s", i))
		s := servers[i%len(servers)]
		all.Go(func() {
			defer GinkgoRecover()
			for range 25 {
				version, err := s.Commit(ctx, n, session.Change{Spent: []session.Spending{
					{Day: "2026-03-01", Address: fmt.Sprint(i % 3), Calls: 1, MicroEUR: 10}, {Day: "2026-03-02", Address: "x", Calls: 1},
				}})
				Expect(err).NotTo(HaveOccurred())
				n.Version = version
			}
		})
	}
	all.Wait()
	for _, s := range servers {
		Expect(s.SpentOn(ctx, "2026-03-01", "")).To(Equal(session.Spending{Day: "2026-03-01", Calls: 200, MicroEUR: 2000}))
		Expect(s.SpentOn(ctx, "2026-03-01", "0")).To(HaveField("Calls", 75))
	}
}

var _ = Describe("what was spent", func() {
	It("is counted once by two servers on one PostgreSQL", func(ctx SpecContext) {
		dsn := scratch(ctx)
		spendAtOnce(ctx, opened(ctx, dsn), opened(ctx, dsn))
	})

	It("is counted once by two processes on one file, and survives them", func(ctx SpecContext) {
		path := GinkgoT().TempDir() + "/s.db"
		spendAtOnce(ctx, opened(ctx, path), opened(ctx, path))
		again, err := store.Open(ctx, path)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(again.Close)
		Expect(again.SpentOn(ctx, "2026-03-02", "x")).To(HaveField("Calls", 200))
	})
})
