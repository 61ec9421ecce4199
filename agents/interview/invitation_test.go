package interview_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

var _ = Describe("An invitation", Label("I-15"), func() {
	var (
		p person
		r *rig
		s *interview.Service
	)
	invite := func(ctx context.Context, token, candidate string, uses int) {
		GinkgoHelper()
		Expect(r.store.(*store.Store).Invite(ctx, session.Invitation{
			Hash: session.HashInvitation(token), Candidate: candidate, Uses: uses, Created: r.clock.Now(), Expires: r.clock.Now().Add(time.Hour),
		})).To(Succeed())
	}
	begin := func(token, candidate string) interview.Submission {
		return interview.Submission{Event: interview.EventStart, Invitation: token, Candidate: candidate}
	}
	BeforeEach(func(ctx context.Context) {
		p = meet("lea")
		r = newRig(p)
		r.options.RequireInvitation = true
		s = r.serve()
		invite(ctx, "t", "lea", 1)
	})

	It("is needed, if the server says so", func(ctx context.Context) {
		Expect(refusal(s.Handle(ctx, begin("", "lea"))).Code).To(Equal(interview.CodeUninvited))
		Expect(refusal(s.Handle(ctx, begin("wrong", "lea"))).Code).To(Equal(interview.CodeInvitation))
		r.options.RequireInvitation = false
		open := handle(ctx, r.serve(), begin("", "lea"))
		Expect(r.store.Load(ctx, open.SessionID)).To(And(HaveField("Invited", false), HaveField("Invitation", "")))
	})

	It("is checked before the jobs and the budget, of which a stranger learns nothing", func(ctx context.Context) {
		r.options.PerDay = interview.Budget{Calls: 1}
		s = r.serve()
		v := handle(ctx, s, begin("t", "lea"))
		spent, err := r.store.Load(ctx, v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		_, err = r.store.Commit(ctx, spent, session.Change{Spent: []session.Spending{{Day: session.Day(r.clock.Now()), Calls: 1}}})
		Expect(err).NotTo(HaveOccurred())
		for token, code := range map[string]interview.Code{"": interview.CodeUninvited, "wrong": interview.CodeInvitation} {
			in := begin(token, "")
			in.Job = "nothing"
			Expect(refusal(s.Handle(ctx, in)).Code).To(Equal(code))
		}
		Expect(handle(ctx, s, begin("t", "lea")).SessionID).To(Equal(v.SessionID), "it was begun, and costs nothing")
		invite(ctx, "other", "", 1)
		Expect(refusal(s.Handle(ctx, begin("other", ""))).Code).To(Equal(interview.CodeBudget))
		Expect(r.store.Invitation(ctx, session.HashInvitation("other"))).To(HaveField("Used", 0))
	})

	It("names the candidate", func(ctx context.Context) {
		failed := refusal(s.Handle(ctx, begin("t", "tom")))
		Expect(failed.Code).To(Equal(interview.CodeInvalid))
		v := handle(ctx, s, begin("t", ""))
		Expect(r.store.Load(ctx, v.SessionID)).To(And(HaveField("Candidate", "lea"), HaveField("Invited", true), HaveField("Invitation", HaveLen(10))))
	})

	It("leaves the choice to the client if it names no candidate, and may begin several interviews", func(ctx context.Context) {
		invite(ctx, "many", "", 2)
		for _, candidate := range []string{"a", "b"} {
			v := handle(ctx, s, begin("many", candidate))
			Expect(r.store.Load(ctx, v.SessionID)).To(And(HaveField("Candidate", candidate), HaveField("Invited", false)))
		}
		Expect(refusal(s.Handle(ctx, begin("many", "c"))).Code).To(Equal(interview.CodeInvitation), "no session of another one is shown")
	})

	It("shows its interview again while there is no answer, and nothing of it afterwards", func(ctx context.Context) {
		v := handle(ctx, s, begin("t", "lea"))
		again := handle(ctx, s, begin("t", "lea"))
		Expect(again.SessionID).To(Equal(v.SessionID))
		Expect(again.Repeated).To(BeTrue())
		handle(ctx, s, p.next(v))
		failed := refusal(s.Handle(ctx, begin("t", "lea")))
		Expect(failed.Code).To(Equal(interview.CodeInvitation))
		Expect(failed.View).To(BeNil())
	})

	It("for one job begins interviews about that job only", Label("I-02"), func(ctx context.Context) {
		r.jobs = []session.Job{job("nurse", session.English), job("buyer", session.English)}
		s = r.serve()
		Expect(r.store.(*store.Store).Invite(ctx, session.Invitation{
			Hash: session.HashInvitation("j"), Job: "buyer", Uses: 1, Created: r.clock.Now(), Expires: r.clock.Now().Add(time.Hour),
		})).To(Succeed())
		in := begin("j", "")
		in.Job = "nurse"
		failed := refusal(s.Handle(ctx, in))
		Expect(failed.Code).To(Equal(interview.CodeOtherJob))
		in.Job = ""
		v := handle(ctx, s, in)
		Expect(r.store.Load(ctx, v.SessionID)).To(HaveField("Job.ID", "buyer"))
		in.Job = "nurse"
		Expect(refusal(s.Handle(ctx, in)).Code).To(Equal(interview.CodeOtherJob), "it is not shown again as another one either")
	})

	It("expires", func(ctx context.Context) {
		Expect(r.clock.Sleep(ctx, time.Hour)).To(Succeed())
		Expect(refusal(s.Handle(ctx, begin("t", ""))).Message).To(ContainSubstring("expired"))
	})

	It("begins one interview of many requests at once", func(ctx context.Context) {
		for _, got := range atOnce(8, func(int) (interview.View, error) { return s.Handle(ctx, begin("t", "")) }) {
			if got.err != nil {
				Expect(refusal(got.view, got.err).Code).To(Equal(interview.CodeInvitation))
			}
		}
		Expect(r.store.List(ctx, session.Listing{})).To(HaveLen(1))
	})
})
