package run_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("The limits of a run", func() {
	var (
		c    *clock.Virtual
		caps *llm.Budget
		r    run.Run
	)
	BeforeEach(func() {
		c, caps = clock.NewVirtual(), llm.NewBudget(llm.Caps{Calls: 1}, nil, 0)
		r = run.New(run.Caller{Clock: c, Budgets: []*llm.Budget{caps}}, quantity.Duration(time.Minute))
	})
	pass := func() { Expect(c.Sleep(context.Background(), 2*time.Minute)).To(Succeed()) }

	It("do not end a run within them", func() {
		defer r.Enter(context.Background())()
		Expect(r.Limits()).To(BeNil())
		Expect(r.Over()).To(BeNil())
	})

	It("are checked in the order interrupt, budget, time", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer r.Enter(ctx)()
		pass()
		Expect(r.Elapsed()).To(Equal(2 * time.Minute))
		Expect(r.Limits()).To(And(HaveField("Status", run.Timeout), HaveField("Guard", "timeout"),
			HaveField("Details", "stopped as the time was up (timeout 1m0s)")))
		Expect(r.Reserve()).To(BeNil())
		Expect(r.Reserve()).To(And(HaveField("Status", run.Budget), HaveField("Guard", "budget.calls")))
		cancel(errors.New("ctrl-c"))
		Expect(r.Limits()).To(And(HaveField("Status", run.Interrupted), HaveField("Details", "interrupted: ctrl-c")))
		Expect(r.Over()).To(HaveField("Status", run.Interrupted))
	})

	It("name no option for a deadline of the caller", func() {
		ctx, cancel := c.WithTimeout(context.Background(), time.Second)
		defer cancel()
		defer r.Enter(ctx)()
		pass()
		Expect(r.Over()).To(And(HaveField("Status", run.Timeout), HaveField("Guard", ""), HaveField("Details", "stopped at the caller's deadline")))
	})

	It("are not part of an ending's text where they differ from run to run", func() {
		end := run.Panicked("boom")
		Expect(end.Details).To(Equal("panic: boom"))
		Expect(end.Err).To(MatchError(ContainSubstring("run_test.go")))
		Expect(end.Event(3).Attrs).To(Equal(map[string]any{"exit_code": 1}))
	})
})
