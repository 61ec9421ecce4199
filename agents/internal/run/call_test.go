package run_test

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
)

func TestRun(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/internal/run")
}

// answering returns a caller with two budgets whose backend gives one answer.
func answering(reply llm.Reply, err error) (run.Caller, []*llm.Budget) {
	budgets := []*llm.Budget{llm.NewBudget(llm.Caps{}, nil, 0), nil, llm.NewBudget(llm.Caps{Tokens: 5}, nil, 0)}
	backend := llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) { return reply, err })
	return run.Caller{Backend: backend, ID: "fake", Clock: clock.NewVirtual(), Budgets: budgets}, budgets
}

var _ = Describe("A caller", func() {
	ctx := context.Background()

	It("adds the usage of a call to every budget", func() {
		c, budgets := answering(llm.Reply{Text: "hi", Usage: &llm.Usage{Input: 2, Output: 4}}, nil)
		r := run.New(c, 0)
		defer r.Enter(ctx)()
		Expect(r.Reserve()).To(BeNil())
		reply, err := c.Complete(ctx, llm.Request{})
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(Equal("hi"))
		Expect(budgets[0].Spent()).To(Equal(llm.Spent{Calls: 1, Tokens: 6}))
		Expect(r.Limits()).To(HaveField("Guard", "budget.tokens"))
		Expect(r.Reserve()).To(HaveField("Guard", "budget.tokens"))
	})

	DescribeTable("accounts for a failed call by its error",
		func(err error, tokens int, unknown bool) {
			c, budgets := answering(llm.Reply{}, err)
			_, got := c.Complete(ctx, llm.Request{})
			Expect(got).To(BeIdenticalTo(err))
			why := ""
			if unknown {
				why = "the backend reported no usage"
			}
			Expect(budgets[0].Spent()).To(Equal(llm.Spent{Tokens: tokens, TokensUnknown: why}))
		},
		Entry("usage", &llm.Error{Usage: &llm.Usage{Output: 3}}, 3, false),
		Entry("a part of an answer", &llm.Error{Partial: "hel"}, 0, true),
		Entry("nothing", &llm.Error{Kind: llm.Unavailable}, 0, false),
		Entry("an error of another type", errors.New("odd"), 0, false),
	)

	It("returns a panic as a failed call", func() {
		c, _ := answering(llm.Reply{}, nil)
		c.Backend = llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) { panic("boom") })
		_, err := c.Complete(ctx, llm.Request{})
		Expect(llm.KindOf(err)).To(Equal(llm.Failed))
		Expect(err).To(MatchError("failed: panic: boom"), "without the stack")
	})

	It("ends a call at its timeout, with what had arrived", func() {
		c, budgets := answering(llm.Reply{}, nil)
		c.CallTimeout = time.Second
		c.Backend = llm.BackendFunc(func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			return llm.Reply{}, &llm.Error{Kind: llm.Unavailable, Partial: "hel", Err: c.Clock.Sleep(ctx, clock.Forever)}
		})
		_, err := c.Complete(ctx, llm.Request{})
		Expect(err).To(MatchError("fake: timeout: no answer within 1s (call_timeout)"))
		Expect(err).To(HaveField("Partial", "hel"))
		Expect(budgets[0].Spent().TokensUnknown).NotTo(BeEmpty())
	})

	It("leaves the error alone when the run itself has ended", func() {
		c, _ := answering(llm.Reply{}, nil)
		c.CallTimeout = time.Hour
		parent, cancel := c.Clock.WithTimeout(ctx, time.Second)
		defer cancel()
		c.Backend = llm.BackendFunc(func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			return llm.Reply{}, c.Clock.Sleep(ctx, clock.Forever)
		})
		_, err := c.Complete(parent, llm.Request{})
		Expect(err).To(BeIdenticalTo(context.DeadlineExceeded), "no timeout of the call")
	})
})
