package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

func inviting(open opener) {
	invitation := func(token string, uses int) session.Invitation {
		return session.Invitation{
			Hash: session.HashInvitation(token), Candidate: "lea", Uses: uses, Created: start, Expires: start.Add(time.Hour),
		}
	}
	create := func(ctx SpecContext, s session.Store, id, token string, at time.Time) error {
		return s.Create(ctx, session.Session{ID: id, Candidate: "lea", Step: session.Tone, Created: at},
			session.Change{Invitation: session.HashInvitation(token)})
	}

	It("begins as many sessions as an invitation allows, at any concurrency", func(ctx SpecContext) {
		s := open(ctx)
		Expect(s.Invite(ctx, invitation("t", 3))).To(Succeed())
		var begun, refused atomic.Int32
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				switch err := create(ctx, s, fmt.Sprint(i), "t", start); {
				case err == nil:
					begun.Add(1)
				case errors.Is(err, session.ErrConflict):
					refused.Add(1)
				}
			})
		}
		all.Wait()
		Expect([]int32{begun.Load(), refused.Load()}).To(Equal([]int32{3, 9}))
		Expect(s.List(ctx, session.Listing{})).To(HaveLen(3), "a refused one leaves nothing")
		Expect(s.Invitation(ctx, session.HashInvitation("t"))).To(HaveField("Used", 3))
	})

	It("does not begin a session with one that is unknown, expired or revoked", func(ctx SpecContext) {
		s := open(ctx)
		Expect(s.Invite(ctx, invitation("late", 1))).To(Succeed())
		Expect(s.Invite(ctx, invitation("gone", 1))).To(Succeed())
		Expect(s.Revoke(ctx, session.HashInvitation("gone"))).To(Succeed())
		Expect(s.Revoke(ctx, session.HashInvitation("nothing"))).To(MatchError(session.ErrNotFound))
		for token, at := range map[string]time.Time{"nothing": start, "gone": start, "late": start.Add(time.Hour)} {
			Expect(create(ctx, s, token, token, at)).To(MatchError(session.ErrConflict), token)
		}
		Expect(s.List(ctx, session.Listing{})).To(BeEmpty())
		_, err := s.Invitation(ctx, session.HashInvitation("nothing"))
		Expect(err).To(MatchError(session.ErrNotFound))
		Expect(create(ctx, s, "a", "late", start.Add(time.Hour-1))).To(Succeed())
	})

	It("returns what was stored, and forgets the candidate of a deleted session", func(ctx SpecContext) {
		s := open(ctx)
		one := invitation("t", 2)
		one.Job = "nurse"
		Expect(s.Invite(ctx, one)).To(Succeed())
		Expect(create(ctx, s, "a", "t", start)).To(Succeed())
		one.Used, one.Session = 1, "a"
		Expect(s.Invitations(ctx)).To(HaveExactElements(BeComparableTo(one)))
		Expect(session.Erase(ctx, s, "a")).To(Succeed())
		one.Session, one.Candidate, one.Revoked = "", "", true
		Expect(s.Invitations(ctx)).To(HaveExactElements(BeComparableTo(one)))
	})
}
