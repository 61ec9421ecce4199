package interview_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("A session", func() {
	retry := func(v interview.View) interview.Submission {
		return interview.Submission{Session: v.SessionID, Event: interview.EventRetry}
	}
	// stuck is an interview whose model fails after the tone was chosen.
	stuck := func(ctx context.Context, o interview.Options) (*rig, *interview.Service, interview.View) {
		p := meet("lea")
		r := newRig(p)
		r.backend = llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{}, &llm.Error{Kind: llm.Unauthorized, Usage: &llm.Usage{Input: 100_000}}
		})
		r.price = func(_ string, u llm.Usage) (quantity.Money, bool) {
			return quantity.Money{Amount: float64(u.Total()) * 1e-6, Currency: quantity.USD}, true
		}
		r.options = o
		s := r.serve()
		v := handle(ctx, s, p.begin())
		v = handle(ctx, s, p.next(v))
		Expect(refusal(s.Handle(ctx, p.next(v))).Code).To(Equal(interview.CodeBackend))
		return r, s, v
	}
	DescribeTable("that has used up its budget makes no more calls", func(ctx context.Context, o interview.Options, calls int, limit string) {
		r, s, v := stuck(ctx, o)
		for range 20 {
			_ = refusal(s.Handle(ctx, retry(v)))
		}
		Expect(r.ledger(v.SessionID)).To(HaveLen(calls))
		failed := refusal(s.Handle(ctx, retry(v)))
		Expect(failed.Code).To(Equal(interview.CodeLimit))
		Expect(failed.View.AutoContinue).To(BeTrue(), "the answers are kept, and the view says where it stands")
		stored, err := r.store.Load(ctx, v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Owed).To(HaveValue(And(HaveField("Limit", limit), HaveField("Failed", "session_limit"))))
		Expect(r.emitted("session-limit")).To(HaveLen(1), "and not for each attempt")

		// Whoever runs the server may raise the limit.
		r.options = interview.Options{MaxCalls: -1, MaxCost: -1, MaxRetries: -1}
		Expect(refusal(r.serve().Handle(ctx, retry(v))).Code).To(Equal(interview.CodeBackend))
		Expect(r.ledger(v.SessionID)).To(HaveLen(calls + 1))
		Expect(stored.Step).To(Equal(session.Preamble))
	},
		Entry("its calls", interview.Options{MaxCalls: 5}, 5, "calls"),
		Entry("its money: 0.1 USD a call, at 0.9 EUR", interview.Options{MaxCost: 0.3, EURPerUSD: 0.9}, 4, "cost"),
		Entry("its money, at an unknown rate", interview.Options{MaxCost: 0.3}, 3, "cost"),
		Entry("its retries", interview.Options{MaxRetries: 2}, 3, "retries"),
		Entry("its money by default", interview.Options{}, 10, "cost"),
	)

	It("cannot be given limits that are none", func() {
		for _, o := range []interview.Options{{MaxCalls: -2}, {MaxCost: -0.5}, {MaxRetries: -3}, {EURPerUSD: -1}} {
			_, err := interview.New(o, interview.Deps{})
			Expect(err).To(MatchError(ContainSubstring("limits of a session")))
		}
	})
})
