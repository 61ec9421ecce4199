package loop_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("Max iterations", Label("L-03"), func() {
	It("stops with exit code 4", func() {
		res := newRig(loop.Options{MaxIterations: new(2)}, all("a", "b", "DONE")...).run()
		Expect(res.Status).To(Equal(loop.StatusMaxIterations))
		Expect(res.ExitCode).To(Equal(4))
		Expect(res.Iterations).To(Equal(2))
		Expect(res.Details).To(ContainSubstring("max_iterations 2"))
		Expect(res.Guard).To(Equal("max_iterations"))
	})

	It("lets the last allowed iteration complete", func() {
		Expect(newRig(loop.Options{MaxIterations: new(2)}, all("a", "DONE")...).run().Status).To(Equal(loop.StatusDone))
	})

	It("asks the stop guard in the last allowed iteration too", func() {
		r := newRig(loop.Options{MaxIterations: new(1)}, say("DONE"))
		r.deps.SetJudge(refuse(1))
		Expect(r.run().Status).To(Equal(loop.StatusMaxIterations))
		Expect(r.emitted(event.Verdict)).To(HaveLen(1))
	})
})

var _ = Describe("Timeout", Label("L-04"), func() {
	It("ends a call that hangs, with exit code 3", func() {
		res := newRig(loop.Options{Timeout: within(time.Minute)}, say("a"), hang).run()
		Expect(res.Status).To(Equal(loop.StatusTimeout))
		Expect(res.ExitCode).To(Equal(3))
		Expect(res.Duration).To(Equal(time.Minute))
		Expect(res.Details).To(Equal("stopped as the time was up (timeout 1m0s)"))
		Expect(res.Guard).To(Equal("timeout"))
		Expect(res.Transcript).To(HaveLen(2))
		Expect(res.Transcript[1].Error).To(ContainSubstring("deadline"))
		Expect(res.Text).To(Equal("a"))
	})

	It("covers the whole run", func() {
		r := newRig(loop.Options{Timeout: within(10 * time.Second)}, sayIn(4*time.Second, "a"), sayIn(4*time.Second, "b"), sayIn(4*time.Second, "DONE"))
		Expect(r.run().Status).To(Equal(loop.StatusTimeout))
	})

	It("lets an answer just in time complete", func() {
		r := newRig(loop.Options{Timeout: within(10 * time.Second)}, sayIn(4*time.Second, "a"), sayIn(6*time.Second-1, "DONE"))
		Expect(r.run().Status).To(Equal(loop.StatusDone))
	})

	It("is five minutes by default", func() {
		Expect(newRig(loop.Options{}, hang).run().Duration).To(Equal(5 * time.Minute))
	})

	It("is off at 0", func() {
		Expect(newRig(loop.Options{Timeout: within(0)}, sayIn(100*time.Hour, "DONE")).run().Status).To(Equal(loop.StatusDone))
	})

	It("counts a call that its own timeout ends as failed", func() {
		r := newRig(loop.Options{CallTimeout: within(30 * time.Second), ErrorLimit: new(2)}, hang, say("DONE"))
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Duration).To(Equal(31 * time.Second))
		Expect(res.Transcript[0].ErrorKind).To(Equal(llm.Timeout))
		Expect(res.Transcript[0].Error).To(Equal("fake: timeout: no answer within 30s (call_timeout)"))
	})

	It("returns the partial answer when a call's timeout ends it", func() {
		r := newRig(loop.Options{CallTimeout: within(30 * time.Second)})
		usage := &llm.Usage{Output: 7}
		r.deps.Backend = llm.BackendFunc(func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			err := r.clock.Sleep(ctx, time.Minute)
			return llm.Reply{}, &llm.Error{Kind: llm.Truncated, Partial: "half an ans", Usage: usage, Err: err}
		})
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.Transcript[0].Answer).To(Equal("half an ans"))
		Expect(res.Transcript[0].Usage).To(Equal(usage))
	})

	It("names the caller's deadline", func() {
		r := newRig(loop.Options{}, hang)
		ctx, cancel := r.clock.WithTimeout(context.Background(), time.Second)
		defer cancel()
		res := r.runIn(ctx)
		Expect(res.Status).To(Equal(loop.StatusTimeout))
		Expect(res.Guard).To(BeEmpty())
		Expect(res.Details).To(Equal("stopped at the caller's deadline"))
	})
})

// TestRealClock sees the timeout on the clock that users have.
func TestRealClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := loop.Defaults()
		s.Prompt, s.Timeout = "Task", quantity.Duration(5*time.Minute)
		res := loop.Run(t.Context(), s, loop.Deps{
			Backend: llm.BackendFunc(func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
				<-ctx.Done()
				return llm.Reply{}, context.Cause(ctx)
			}),
		})
		if res.Status != loop.StatusTimeout || res.Duration != 5*time.Minute || res.Backend != "copilot" {
			t.Errorf("got %+v", res)
		}
	})
}

var _ = Describe("Interrupt", Label("L-09"), func() {
	interrupted := errors.New("interrupt signal received")

	It("ends with exit code 130 during a call", func() {
		r := newRig(loop.Options{}, say("a"), hang)
		ctx, cancel := context.WithCancelCause(context.Background())
		r.clock.AfterFunc(90*time.Second, func() { cancel(interrupted) })
		res := r.runIn(ctx)
		Expect(res.Status).To(Equal(loop.StatusInterrupted))
		Expect(res.ExitCode).To(Equal(130))
		Expect(res.Duration).To(Equal(90 * time.Second))
		Expect(res.Err).To(MatchError(interrupted))
		Expect(res.Details).To(ContainSubstring("interrupt signal received"))
	})

	It("makes no call once interrupted", func() {
		r := newRig(loop.Options{}, say("DONE"))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		Expect(r.runIn(ctx).Status).To(Equal(loop.StatusInterrupted))
		Expect(r.requests).To(BeEmpty())
	})

	It("ends the wait of an open circuit", func() {
		r := newRig(loop.Options{Breaker: &loop.BreakerOptions{Failures: 1, Cooldown: quantity.Duration(time.Minute)}}, fail(llm.Unavailable, ""))
		ctx, cancel := context.WithCancel(context.Background())
		r.clock.AfterFunc(10*time.Second, cancel)
		res := r.runIn(ctx)
		Expect(res.Status).To(Equal(loop.StatusInterrupted))
		Expect(res.Duration).To(Equal(10 * time.Second))
	})
})

var _ = Describe("Failed calls", func() {
	type step = turn
	down := fail(llm.Unavailable, "503 from req-17")

	DescribeTable("end the run at their limits",
		func(o loop.Options, status loop.Status, details string, steps ...step) {
			o.MaxIterations = new(len(steps))
			res := newRig(o, steps...).run()
			Expect(res.Status).To(Equal(status), res.Details)
			Expect(res.Details).To(ContainSubstring(details))
			Expect(res.Iterations).To(Equal(len(steps)))
		},
		Entry("the first, by default", Label("L-09"), loop.Options{}, loop.StatusError, "calls failed (1 in a row, error_limit 1): fake: unavailable: 503", down),
		Entry("error limit", Label("L-09"), loop.Options{ErrorLimit: new(2)}, loop.StatusError, "2 in a row", down, down),
		Entry("error limit, just not", Label("L-09"), loop.Options{ErrorLimit: new(2)}, loop.StatusDone, "", down, say("a"), down, say("DONE")),
		Entry("no error limit", Label("L-09"), loop.Options{ErrorLimit: new(0)}, loop.StatusMaxIterations, "", down, down, down, down),
		Entry("the same error", Label("L-10"), loop.Options{RepeatedErrorLimit: new(3)}, loop.StatusNoProgress,
			"3 times the same error in a row (repeated_error_limit 3)", down, fail(llm.Unavailable, "503 from req-18"), down),
		Entry("another message", Label("L-10"), loop.Options{RepeatedErrorLimit: new(2)}, loop.StatusMaxIterations, "", down, fail(llm.Unavailable, "reset")),
		Entry("another kind", Label("L-10"), loop.Options{RepeatedErrorLimit: new(2)}, loop.StatusMaxIterations, "", down, fail(llm.RateLimited, "503 from req-17")),
		Entry("an answer in between", Label("L-10"), loop.Options{RepeatedErrorLimit: new(2)}, loop.StatusMaxIterations, "", down, say("a"), down),
		Entry("both limits at once: the same error is named", Label("L-10"), loop.Options{RepeatedErrorLimit: new(2), ErrorLimit: new(2)}, loop.StatusNoProgress, "", down, down),
	)

	It("counts errors without a kind as the same by their text", Label("L-10"), func() {
		plain := func(text string) step {
			return answerError(errors.New(text))
		}
		Expect(newRig(loop.Options{RepeatedErrorLimit: new(2)}, plain("pipe 1"), plain("pipe 2")).run().Status).To(Equal(loop.StatusNoProgress))
		Expect(newRig(loop.Options{RepeatedErrorLimit: new(2), MaxIterations: new(2)}, plain("pipe"), plain("socket")).run().Status).To(Equal(loop.StatusMaxIterations))
		bare := &llm.Error{Kind: llm.Unavailable, Err: errors.New("reset")}
		other := &llm.Error{Kind: llm.Unavailable, Err: errors.New("refused")}
		Expect(newRig(loop.Options{RepeatedErrorLimit: new(2), MaxIterations: new(2)}, answerError(bare), answerError(other)).run().Status).To(Equal(loop.StatusMaxIterations))
		status := &llm.Error{Kind: llm.Unavailable, Status: 502, Err: errors.New("reset")}
		Expect(newRig(loop.Options{RepeatedErrorLimit: new(2), MaxIterations: new(2)}, answerError(bare), answerError(status)).run().Status).To(Equal(loop.StatusMaxIterations))
	})
})

func answerError(err error) turn {
	return func(context.Context, clock.Clock) (llm.Reply, error) { return llm.Reply{}, err }
}

var _ = Describe("Circuit breaker", Label("L-11"), func() {
	down := fail(llm.Unavailable, "503")
	breaker := func(maxOpens int) loop.Options {
		return loop.Options{Breaker: &loop.BreakerOptions{Failures: 2, Cooldown: quantity.Duration(30 * time.Second), MaxOpens: maxOpens}}
	}
	states := func(r *rig) (moves []string) {
		for _, e := range r.emitted(event.State) {
			moves = append(moves, e.Attrs["from"].(string)+" to "+e.Attrs["to"].(string))
		}
		return moves
	}

	It("opens, cools, tries one call and closes", func() {
		r := newRig(breaker(0), down, down, say("back"), down, say("DONE"))
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(states(r)).To(Equal([]string{"closed to open", "open to half-open", "half-open to closed"}))
		Expect(res.Transcript[2].At).To(Equal(30 * time.Second))
		Expect(r.emitted(event.State)[0].Detail).To(Equal("circuit open, was closed: fake: unavailable: 503"))
	})

	It("opens again at once when the trial call fails", func() {
		r := newRig(breaker(0), down, down, down, say("DONE"))
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Duration).To(Equal(61 * time.Second))
		Expect(states(r)).To(Equal([]string{
			"closed to open", "open to half-open", "half-open to open", "open to half-open", "half-open to closed",
		}))
	})

	It("does not open just below its limit", func() {
		r := newRig(breaker(0), down, say("a"), down, say("DONE"))
		Expect(r.run().Duration).To(Equal(2 * time.Second))
		Expect(states(r)).To(BeEmpty())
	})

	It("gives up when it has opened too often", func() {
		r := newRig(breaker(2), down, down, down)
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.ExitCode).To(Equal(1))
		Expect(res.Guard).To(Equal("breaker.max_opens"))
		Expect(res.Details).To(Equal("gave up at opening 2 of the circuit (breaker.max_opens 2); last error: fake: unavailable: 503"))
		Expect(llm.KindOf(res.Err)).To(Equal(llm.Unavailable))
	})

	It("waits at most until the run's timeout", func() {
		o := breaker(0)
		o.Timeout = within(10 * time.Second)
		res := newRig(o, down, down).run()
		Expect(res.Status).To(Equal(loop.StatusTimeout))
		Expect(res.Duration).To(Equal(10 * time.Second))
	})
})

var _ = Describe("Budget", Label("L-11"), func() {
	used := func(text string, tokens int) turn {
		return answer(0, llm.Reply{Text: text, Model: "m", Usage: &llm.Usage{Input: tokens}})
	}
	cent := func(model string, u llm.Usage) (quantity.Money, bool) {
		return quantity.Money{Amount: float64(u.Total()) / 100, Currency: quantity.USD}, model == "m"
	}
	usd := func(amount float64) *llm.Caps {
		return &llm.Caps{Cost: quantity.Money{Amount: amount, Currency: quantity.USD}}
	}

	DescribeTable("stops at the cap with exit code 7, and not just below it",
		func(b *llm.Caps, status loop.Status, details string, steps ...turn) {
			r := newRig(loop.Options{Budget: b, MaxIterations: new(4)}, steps...)
			r.deps.Price = cent
			res := r.run()
			Expect(res.Status).To(Equal(status), res.Details)
			Expect(res.Details).To(ContainSubstring(details))
			Expect(res.Iterations).To(Equal(len(steps)))
		},
		Entry("calls", &llm.Caps{Calls: 2}, loop.StatusBudget, "budget for calls is used up: 2 of 2 (budget.calls)", say("a"), say("b")),
		Entry("calls, just not", &llm.Caps{Calls: 2}, loop.StatusDone, "", say("a"), say("DONE")),
		Entry("tokens", &llm.Caps{Tokens: 10}, loop.StatusBudget, "tokens is used up: 11 of 10", used("a", 5), used("b", 6)),
		Entry("tokens, just not", &llm.Caps{Tokens: 11}, loop.StatusDone, "", used("a", 5), used("DONE", 6)),
		Entry("tokens, nothing left for another call", &llm.Caps{Tokens: 11}, loop.StatusBudget, "11 of 11", used("a", 5), used("b", 6)),
		Entry("tokens unknown", &llm.Caps{Tokens: 10}, loop.StatusBudget, "tokens spent: unknown", say("a")),
		Entry("cost", usd(0.1), loop.StatusBudget, "cost is used up: 0.11 USD of 0.1 USD (budget.cost)", used("a", 5), used("b", 6)),
		Entry("cost, just not", usd(0.11), loop.StatusDone, "", used("a", 5), used("DONE", 6)),
		Entry("cost of an unknown model", usd(0.1), loop.StatusBudget, `the price of model "x" is unknown`, answer(0, llm.Reply{Text: "a", Model: "x", Usage: &llm.Usage{}})),
		Entry("no caps", nil, loop.StatusDone, "", say("a"), say("b"), say("c"), say("DONE")),
	)

	It("prices the model that was asked for where the backend names none", func() {
		r := newRig(loop.Options{Model: "m", Budget: usd(1)}, answer(0, llm.Reply{Text: "DONE", Usage: &llm.Usage{}}))
		r.deps.Price = cent
		Expect(r.run().Status).To(Equal(loop.StatusDone))
	})

	It("names the option in the result", func() {
		Expect(newRig(loop.Options{Budget: &llm.Caps{Calls: 1}}, say("a")).run().Guard).To(Equal("budget.calls"))
	})

	DescribeTable("accounts for failed calls",
		func(err *llm.Error, status loop.Status) {
			r := newRig(loop.Options{Budget: &llm.Caps{Tokens: 10}, ErrorLimit: new(0), MaxIterations: new(1)}, answerError(err))
			Expect(r.run().Status).To(Equal(status))
		},
		Entry("that used nothing", &llm.Error{Kind: llm.RateLimited}, loop.StatusMaxIterations),
		Entry("that say what they used", &llm.Error{Kind: llm.Truncated, Partial: "x", Usage: &llm.Usage{Output: 11}}, loop.StatusBudget),
		Entry("that used an unknown amount", &llm.Error{Kind: llm.Truncated, Partial: "x"}, loop.StatusBudget),
	)

	It("permits a failed call that used no tokens, at a cap on cost without a known price", func() {
		r := newRig(loop.Options{Budget: usd(1), ErrorLimit: new(0), MaxIterations: new(1)},
			answerError(&llm.Error{Kind: llm.Unavailable, Usage: &llm.Usage{}}))
		r.deps.Price = cent
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusMaxIterations))
		Expect(res.Totals).To(Equal(loop.Totals{}))
	})

	It("is shared with others", func() {
		shared := llm.NewBudget(llm.Caps{Calls: 3}, nil, 0)
		first := newRig(loop.Options{}, all("a", "DONE")...)
		second := newRig(loop.Options{}, all("a", "DONE")...)
		first.deps.Shared, second.deps.Shared = shared, shared
		Expect(first.run().Status).To(Equal(loop.StatusDone))
		Expect(second.run().Status).To(Equal(loop.StatusBudget))
		Expect(second.requests).To(HaveLen(1))
	})
})
