package store_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

var _ = Describe("Open", func() {
	It("keeps a session in memory", func(ctx SpecContext) {
		s, err := store.Open(ctx, "memory:")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(s.Close)
		Expect(s.Driver()).To(HavePrefix("SQLite 3."))
		n := session.Session{ID: "a", Candidate: "lea", Step: session.Identity, Phase: session.Asking}
		Expect(s.Create(ctx, n, session.Change{Messages: []session.Message{{Seq: 1, Step: session.Identity}}})).To(Succeed())
		got, err := s.Load(ctx, "a")
		Expect(err).NotTo(HaveOccurred())
		Expect(got.Version).To(BeEquivalentTo(1))
		Expect(s.Commit(ctx, got, session.Change{Submission: "x"})).To(BeEquivalentTo(2))
		_, err = s.Commit(ctx, got, session.Change{})
		Expect(err).To(MatchError(session.ErrConflict))
		Expect(s.Submitted(ctx, "a", "x")).To(BeTrue())
	})
})
