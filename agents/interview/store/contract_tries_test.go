package store_test

import (
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

func trying(open opener) {
	It("allows a number of attempts at a code, for each session and day", func(ctx SpecContext) {
		s := open(ctx)
		begin(ctx, s, "a")
		begin(ctx, s, "b")
		var allowed atomic.Int32
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				defer GinkgoRecover()
				ok, err := s.CountTry(ctx, "a", "2026-03-01", 5)
				Expect(err).NotTo(HaveOccurred())
				if ok {
					allowed.Add(1)
				}
			})
		}
		all.Wait()
		Expect(allowed.Load()).To(BeEquivalentTo(5))
		Expect(s.CountTry(ctx, "b", "2026-03-01", 5)).To(BeTrue())
		Expect(s.CountTry(ctx, "a", "2026-03-01", 6)).To(BeTrue(), "a refused attempt is not counted")

		By("beginning again on another day, and after a right code")
		Expect(s.CountTry(ctx, "a", "2026-03-02", 1)).To(BeTrue())
		Expect(s.CountTry(ctx, "a", "2026-03-02", 1)).To(BeFalse())
		Expect(s.ForgetTries(ctx, "a")).To(Succeed())
		Expect(s.CountTry(ctx, "a", "2026-03-02", 1)).To(BeTrue())
		Expect(s.ForgetTries(ctx, "nobody")).To(Succeed())
		_, err := s.CountTry(ctx, "nobody", "2026-03-01", 1)
		Expect(err).To(HaveOccurred())
	})

	It("forgets the attempts at the code of a deleted session", func(ctx SpecContext) {
		s := open(ctx)
		begin(ctx, s, "a")
		Expect(s.CountTry(ctx, "a", "2026-03-01", 1)).To(BeTrue())
		Expect(session.Erase(ctx, s, "a")).To(Succeed())
		var kept int
		Expect(store.DB(s).QueryRowContext(ctx, "SELECT COUNT(*) FROM interview_tries").Scan(&kept)).To(Succeed())
		Expect(kept).To(BeZero())
	})
}
