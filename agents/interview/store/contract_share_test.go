package store_test

import (
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

func sharing(open opener) {
	share := func(token, of string) session.Share {
		return session.Share{
			Hash: session.HashShare(token), Session: of, For: "works council", Texts: true, Created: start, Expires: start.Add(time.Hour),
		}
	}
	begun := func(ctx SpecContext, s session.Store, ids ...string) {
		GinkgoHelper()
		for _, id := range ids {
			Expect(s.Create(ctx, session.Session{ID: id, Candidate: "lea", Step: session.Tone, Created: start}, session.Change{})).To(Succeed())
		}
	}

	It("opens the audit of one session until it expires or is revoked, and counts each use", Label("I-15"), func(ctx SpecContext) {
		s := open(ctx)
		begun(ctx, s, "a", "b")
		one := share("t", "a")
		Expect(s.Share(ctx, one)).To(Succeed())
		Expect(s.Share(ctx, share("other", "b"))).To(Succeed())
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				defer GinkgoRecover()
				_, err := s.OpenShare(ctx, one.Hash, start.Add(time.Minute))
				Expect(err).NotTo(HaveOccurred())
			})
		}
		all.Wait()
		one.Opened, one.Last = 8, start.Add(time.Minute).UTC()
		Expect(s.Shares(ctx, "a")).To(HaveExactElements(BeComparableTo(one)))
		Expect(s.Shares(ctx, "")).To(HaveLen(2))

		got, err := s.OpenShare(ctx, one.Hash, one.Expires)
		Expect(err).To(MatchError(session.ErrConflict))
		Expect(got).To(BeComparableTo(one), "a refused use does not count")
		Expect(s.RevokeShare(ctx, one.Hash)).To(Succeed())
		_, err = s.OpenShare(ctx, one.Hash, start)
		Expect(err).To(MatchError(session.ErrConflict))
		Expect(s.RevokeShare(ctx, session.HashShare("nothing"))).To(MatchError(session.ErrNotFound))
		for _, hash := range []string{session.HashShare("nothing"), "", "a\x00b", "\xff"} {
			_, err = s.OpenShare(ctx, hash, start)
			Expect(err).To(MatchError(session.ErrNotFound))
		}
	})

	It("ends with its session, and needs one", Label("I-15"), func(ctx SpecContext) {
		s := open(ctx)
		begun(ctx, s, "a")
		Expect(s.Share(ctx, share("t", "a"))).To(Succeed())
		Expect(s.Share(ctx, share("u", "unknown"))).NotTo(Succeed())
		Expect(session.Erase(ctx, s, "a")).To(Succeed())
		Expect(s.Shares(ctx, "")).To(BeEmpty())
		_, err := s.OpenShare(ctx, session.HashShare("t"), start)
		Expect(err).To(MatchError(session.ErrNotFound))
	})
}
