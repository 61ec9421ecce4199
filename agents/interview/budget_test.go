package interview_test

import (
	"context"
	"log/slog"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("The budget of a day", Label("I-09"), func() {
	var (
		p person
		r *rig
	)
	BeforeEach(func() {
		p = meet("lea")
		r = newRig(p)
		r.options.AddressKey = "key"
	})
	from := func(address string, in interview.Submission) interview.Submission {
		in.Address = address
		return in
	}
	// advance takes an interview to the first error.
	advance := func(ctx context.Context, s *interview.Service, address string, v interview.View) (interview.View, *interview.Error) {
		GinkgoHelper()
		for range 200 {
			next, err := s.Handle(ctx, from(address, p.next(v)))
			if err != nil {
				return v, refusal(next, err)
			}
			v = next
		}
		Fail("the budget is not used up")
		return v, nil
	}
	retry := func(v interview.View, address string) interview.Submission {
		return interview.Submission{Session: v.SessionID, Event: interview.EventRetry, Address: address}
	}
	today := func(ctx context.Context) session.Spending {
		GinkgoHelper()
		spent, err := r.store.SpentOn(ctx, session.Day(r.clock.Now()), "")
		Expect(err).NotTo(HaveOccurred())
		return spent
	}

	DescribeTable("holds for all sessions and servers together, and until the next day",
		func(ctx context.Context, per interview.Budget, limit string, calls int) {
			r.options.PerDay = per
			v, failed := advance(ctx, r.serve(), "a", handle(ctx, r.serve(), p.begin()))
			Expect(failed.Code).To(Equal(interview.CodeBudget))
			Expect(failed.View.AutoContinue).To(BeTrue())
			Expect(failed.RetryAfter).To(Equal(session.NextDay(r.clock.Now()).Sub(r.clock.Now())))
			Expect(r.ledger(v.SessionID)).To(HaveLen(calls))
			Expect(r.emitted("budget-spent")).To(HaveLen(1))
			stored, err := r.store.Load(ctx, v.SessionID)
			Expect(err).NotTo(HaveOccurred())
			Expect(stored.Owed).To(HaveValue(And(HaveField("Limit", limit), HaveField("Failed", "budget_spent"))))

			By("refusing the same and others, after a restart and on another server")
			r.options.Instance = "two"
			s := r.serve()
			before := r.remains(v.SessionID)
			Expect(refusal(s.Handle(ctx, retry(v, "b"))).Code).To(Equal(interview.CodeBudget))
			Expect(r.remains(v.SessionID)).To(Equal(before))
			Expect(refusal(s.Handle(ctx, p.begin())).Code).To(Equal(interview.CodeBudget))

			By("going on the next day, with all answers")
			Expect(r.clock.Sleep(ctx, failed.RetryAfter)).To(Succeed())
			next := handle(ctx, s, retry(v, "a"))
			Expect(next.AutoContinue).To(BeFalse())
			Expect(r.ledger(v.SessionID)).To(HaveLen(calls + 1))
		},
		Entry("of calls", interview.Budget{Calls: 5}, "calls-per-day", 5),
		Entry("of money", interview.Budget{Cost: 0.005}, "cost-per-day", 4),
	)

	It("can be raised", func(ctx context.Context) {
		r.options.PerDay = interview.Budget{Calls: 3}
		v, _ := advance(ctx, r.serve(), "", handle(ctx, r.serve(), p.begin()))
		r.options.PerDay.Calls = 4
		s := r.serve()
		v, failed := advance(ctx, s, "", handle(ctx, s, retry(v, "")))
		Expect(failed.Code).To(Equal(interview.CodeBudget))
		Expect(r.ledger(v.SessionID)).To(HaveLen(4))
	})

	It("holds for each address by itself", func(ctx context.Context) {
		r.options.PerAddress = interview.Budget{Calls: 2}
		s := r.serve()
		v, failed := advance(ctx, s, "a", handle(ctx, s, from("a", p.begin())))
		Expect(failed.Code).To(Equal(interview.CodeBudget))
		Expect(refusal(s.Handle(ctx, from("a", p.begin()))).Code).To(Equal(interview.CodeBudget))
		other, failed := advance(ctx, s, "b", handle(ctx, s, from("b", p.begin())))
		Expect(failed.Code).To(Equal(interview.CodeBudget))
		for _, id := range []string{v.SessionID, other.SessionID} {
			Expect(r.ledger(id)).To(HaveLen(2))
		}
		Expect(today(ctx).Calls).To(Equal(4))
	})

	It("counts what the ledger counts, whatever becomes of a call", func(ctx context.Context) {
		n := 0
		good := r.backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			switch n++; n % 5 {
			case 2:
				return llm.Reply{}, &llm.Error{Kind: llm.Unavailable}
			case 3:
				return llm.Reply{Text: "no", Finish: llm.FinishStop, Usage: &llm.Usage{Input: 9000, Output: 5}}, nil
			}
			return good.Complete(ctx, req)
		})
		s := r.serve()
		v := p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Block3, 0))
		calls, sum := r.ledger(v.SessionID), 0.0
		for _, c := range calls {
			sum += c.Cost.Amount
		}
		Expect(len(calls)).To(BeNumerically(">", 10))
		Expect(today(ctx).Calls).To(Equal(len(calls)))
		Expect(float64(today(ctx).MicroEUR)).To(BeNumerically("~", sum*1e6, 2*len(calls)))
	})

	It("counts the input of a call before it begins, so that a crash does not lose it", func(ctx context.Context) {
		r.price = func(_ string, u llm.Usage) (quantity.Money, bool) {
			return quantity.Money{Amount: float64(u.Input), Currency: quantity.EUR}, true
		}
		s := r.serve()
		v := p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Tone, -1))
		inCall := make(chan session.Spending, 1)
		r.backend = llm.BackendFunc(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			inCall <- today(ctx)
			return p.reply(req), nil
		})
		handle(ctx, s, p.next(v))
		Expect(<-inCall).To(And(HaveField("Calls", 1), HaveField("MicroEUR", BeNumerically(">", 1e6))))
	})

	It("counts a call on the day on which it began", func(ctx context.Context) {
		s := r.serve()
		v := p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Tone, -1))
		Expect(r.clock.Sleep(ctx, session.NextDay(r.clock.Now()).Sub(r.clock.Now())-time.Second/2)).To(Succeed())
		before := r.clock.Now()
		handle(ctx, s, p.next(v))
		Expect(session.Day(r.clock.Now())).NotTo(Equal(session.Day(before)))
		Expect(today(ctx)).To(HaveField("Calls", 0))
		Expect(today(ctx)).To(HaveField("MicroEUR", BeZero()))
	})

	It("counts a reply of a model without a price as one of the model that was called", func(ctx context.Context) {
		r.options.PerDay = interview.Budget{Cost: 0.005}
		r.price = func(model string, u llm.Usage) (quantity.Money, bool) {
			return quantity.Money{Amount: float64(u.Total()) / 1e6, Currency: quantity.EUR}, model == "gpt-test"
		}
		good := r.backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			reply, err := good.Complete(ctx, req)
			reply.Model = "another"
			return reply, err
		})
		s := r.serve()
		v, failed := advance(ctx, s, "a", handle(ctx, s, p.begin()))
		Expect(failed.Code).To(Equal(interview.CodeBudget))
		Expect(r.ledger(v.SessionID)).To(And(HaveLen(4), HaveEach(HaveField("Cost", BeNil()))))
		stored, err := r.store.Load(ctx, v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Spent.Amount * 1e6).To(BeNumerically("~", today(ctx).MicroEUR, 4))
	})

	It("is refused in money if the price of the model is not known", func(ctx context.Context) {
		unknown := func(string, llm.Usage) (quantity.Money, bool) { return quantity.Money{}, false }
		log := &strings.Builder{}
		deps := interview.Deps{Store: r.store, Clock: r.clock, Backend: r.backend, Log: slog.New(slog.NewTextHandler(log, nil))}
		for _, price := range []llm.Pricer{nil, unknown} {
			deps.Price = price
			for _, o := range []interview.Options{
				{Model: "m", PerDay: interview.Budget{Cost: 1}}, {Model: "m", PerAddress: interview.Budget{Calls: 9, Cost: 1}, AddressKey: "key"},
			} {
				_, err := interview.New(o, deps)
				Expect(err).To(MatchError(And(ContainSubstring(`price of the model "m" is not known`), ContainSubstring("--max-calls-per-day"))))
			}
		}
		Expect(log.String()).To(BeEmpty())
		_, err := interview.New(interview.Options{Model: "m", PerDay: interview.Budget{Calls: 1}}, deps)
		Expect(err).NotTo(HaveOccurred())
		Expect(log.String()).To(ContainSubstring("the limit of the cost of a session does not apply"))
	})

	It("is refused if it is not one, or if addresses could not be hashed", func() {
		for _, o := range []interview.Options{
			{PerDay: interview.Budget{Calls: -1}}, {PerDay: interview.Budget{Cost: -1}}, {PerAddress: interview.Budget{Calls: 1}},
		} {
			_, err := interview.New(o, interview.Deps{})
			Expect(err).To(MatchError(ContainSubstring("limits of a")))
		}
	})
})
