package loop_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// failWith fails at once with an error.
func failWith(e llm.Error) turn {
	return func(context.Context, clock.Clock) (llm.Reply, error) { return llm.Reply{}, &e }
}

var _ = Describe("A failed call", Label("L-01"), func() {
	down := fail(llm.Unavailable, "down")
	patient := loop.Options{ErrorLimit: new(4), Backoff: within(5 * time.Second)}

	It("is repeated after a wait that doubles with each failure in a row", func() {
		r := newRig(patient, down, down, down, say("half"), down, say("DONE"))
		var waits []time.Duration
		r.deps.OnWait = func(why string, left time.Duration) {
			Expect(why).To(Equal("waiting after a failed call"))
			waits = append(waits, left)
		}
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Duration).To(Equal((5 + 10 + 20 + 1 + 5 + 1) * time.Second))
		Expect(waits[0]).To(Equal(5 * time.Second))
		Expect(waits).To(HaveLen(5 + 10 + 20 + 5 + 4))
		Expect(r.emitted(event.State)[1].Detail).To(Equal("waiting 10s after a failed call"))
	})

	It("waits at most five minutes, and as long as the backend asks for up to that", func() {
		o := loop.Options{ErrorLimit: new(0), MaxIterations: new(12), Timeout: within(0), Backoff: within(time.Minute)}
		r := newRig(o, down, down, down, down, down, say("DONE"))
		Expect(r.run().Duration).To(Equal((1+2+4+5+5)*time.Minute + time.Second))
		r = newRig(o, failWith(llm.Error{Kind: llm.RateLimited, RetryAfter: 3 * time.Minute}), say("DONE"))
		Expect(r.run().Duration).To(Equal(3*time.Minute + time.Second))
	})

	It("ends the run at the third in a row by default", func() {
		s, err := loop.Resolve(loop.Options{Prompt: "p"})
		Expect(err).NotTo(HaveOccurred())
		r := newRig(loop.Options{}, down, down, down)
		res := loop.Run(context.Background(), s, r.deps)
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.Details).To(ContainSubstring("3 in a row, error_limit 3"))
		Expect(res.Duration).To(Equal(15 * time.Second))
	})

	It("is not repeated if its program would fail in the same way", func() {
		res := newRig(patient, func(context.Context, clock.Clock) (llm.Reply, error) {
			return llm.Reply{}, &llm.Error{Kind: llm.Malformed, Message: "no", Lasting: true}
		}).run()
		Expect(res.Details).To(Equal("stopped, as the call would fail again: malformed: no"))
	})

	DescribeTable("is not repeated where that cannot help", func(kind llm.ErrorKind) {
		res := newRig(patient, fail(kind, "no")).run()
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.Details).To(HavePrefix("stopped, as the call would fail again: "))
		Expect(res.Duration).To(BeZero())
	},
		Entry("a wrong key", llm.Unauthorized), Entry("a wrong request", llm.InvalidRequest),
		Entry("a script without a line", llm.ScriptExhausted), Entry("an unexpected call", llm.UnexpectedCall),
	)

	It("waits for the breaker alone where that is open", func() {
		o := loop.Options{Backoff: within(5 * time.Second), Breaker: &loop.BreakerOptions{Failures: 1, Cooldown: *within(time.Minute)}}
		Expect(newRig(o, down, say("DONE")).run().Duration).To(Equal(time.Minute + time.Second))
	})

	It("does not outlive the time of the run, or an interrupt", func() {
		o := patient
		o.Timeout = within(2 * time.Second)
		res := newRig(o, down, say("DONE")).run()
		Expect(res.Status).To(Equal(loop.StatusTimeout))
		Expect(res.Duration).To(Equal(2 * time.Second))
		r := newRig(patient, down, say("DONE"))
		ctx, cancel := context.WithCancel(context.Background())
		r.deps.OnWait = func(string, time.Duration) { cancel() }
		Expect(r.runIn(ctx).Status).To(Equal(loop.StatusInterrupted))
	})
})

var _ = Describe("A usage limit", Label("L-09"), func() {
	until := clock.Epoch.Add(3 * time.Hour)
	limited := failWith(llm.Error{Kind: llm.RateLimited, Message: "usage limit reached", ResetAt: until})

	It("ends the run with its time", func() {
		r := newRig(loop.Options{ErrorLimit: new(3)}, limited)
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusLimited))
		Expect(res.ExitCode).To(Equal(12))
		Expect(res.LimitedUntil).To(Equal(until))
		Expect(res.Details).To(HavePrefix("stopped at a usage limit until " + until.Format("2006-01-02 15:04 MST")))
	})

	DescribeTable("without a known end is a failed call, and the end explains it",
		func(e llm.Error, waits bool, end string) {
			res := newRig(loop.Options{ErrorLimit: new(2), WaitForLimits: new(waits)}, failWith(e), failWith(e)).run()
			Expect(res.Status).To(Equal(loop.StatusError))
			Expect(res.Details).To(HaveSuffix("in a row, error_limit 2): " + end))
			res = newRig(loop.Options{RepeatedErrorLimit: new(2), WaitForLimits: new(waits)}, failWith(e), failWith(e)).run()
			Expect(res.Status).To(Equal(loop.StatusNoProgress))
			Expect(res.Details).To(HaveSuffix("(repeated_error_limit 2): " + end))
		},
		Entry("that ends the run", llm.Error{Kind: llm.RateLimited, Message: "429"}, false,
			"rate-limited: 429; when the limit ends is unknown, as the backend does not report it"),
		Entry("although the run waits for limits", llm.Error{Kind: llm.RateLimited, Message: "429"}, true,
			"rate-limited: 429; when the limit ends is unknown, as the backend does not report it, so wait_for_limits cannot wait for it"),
		Entry("but not where it is short", llm.Error{Kind: llm.RateLimited, Message: "429", RetryAfter: time.Second}, true,
			"rate-limited: 429; retry after 1s"),
		Entry("but not where it has passed", llm.Error{Kind: llm.RateLimited, Message: "429", ResetAt: clock.Epoch.Add(-time.Hour)}, true,
			"rate-limited: 429"),
		Entry("but not for another failure", llm.Error{Kind: llm.Unavailable, Message: "down"}, true, "unavailable: down"),
	)

	It("is waited for, and is not a failed call", func() {
		r := newRig(loop.Options{ErrorLimit: new(1), WaitForLimits: new(true), Timeout: within(0)}, say("half"), limited, say("DONE"))
		var left []time.Duration
		r.deps.OnWait = func(why string, l time.Duration) {
			Expect(why).To(Equal("waiting for the usage limit"))
			left = append(left, l)
		}
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Duration).To(Equal(3*time.Hour + time.Second))
		Expect(left[0]).To(Equal(3*time.Hour - time.Second))
		Expect(left[len(left)-1]).To(BeZero())
		Expect(r.emitted(event.State)[0].Detail).To(HavePrefix("waiting for the end of a usage limit at "))
	})

	It("is not waited for beyond the time of the run", func() {
		res := newRig(loop.Options{WaitForLimits: new(true), Timeout: within(time.Hour)}, limited).run()
		Expect(res.Status).To(Equal(loop.StatusLimited))
		Expect(res.Duration).To(BeZero())
		Expect(res.Details).To(ContainSubstring("that is after the timeout 1h0m0s"))
	})

	It("is one where the backend asks for a long wait", func() {
		res := newRig(loop.Options{}, failWith(llm.Error{Kind: llm.RateLimited, RetryAfter: time.Hour})).run()
		Expect(res.LimitedUntil).To(Equal(clock.Epoch.Add(time.Hour)))
	})

	DescribeTable("is an ordinary failure otherwise", func(e llm.Error) {
		res := newRig(loop.Options{WaitForLimits: new(true)}, failWith(e)).run()
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.LimitedUntil).To(BeZero())
	},
		Entry("without a time", llm.Error{Kind: llm.RateLimited}),
		Entry("with a time that has passed", llm.Error{Kind: llm.RateLimited, ResetAt: clock.Epoch.Add(-time.Second)}),
		Entry("of another kind", llm.Error{Kind: llm.Unavailable, RetryAfter: time.Hour}),
	)
})

var _ = Describe("A call without an event", Label("L-04"), func() {
	It("ends at the idle timeout, and the next call is tried", func() {
		r := newRig(loop.Options{IdleTimeout: within(10 * time.Minute), ErrorLimit: new(2), Timeout: within(0)}, hang, say("DONE"))
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Transcript[0].Error).To(ContainSubstring("no event for 10m0s (idle_timeout)"))
		Expect(res.Transcript[0].ErrorKind).To(Equal(llm.Timeout))
		Expect(res.Duration).To(Equal(10*time.Minute + time.Second))
	})

	DescribeTable("is one since its last event", func(emit func(llm.Request)) {
		r := newRig(loop.Options{IdleTimeout: within(10 * time.Minute), Timeout: within(0)})
		r.deps.OnText = func(string) {}
		r.deps.Backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			for range 5 {
				if err := r.clock.Sleep(ctx, 9*time.Minute); err != nil {
					return llm.Reply{}, err
				}
				emit(req)
			}
			return llm.Reply{}, r.clock.Sleep(ctx, clock.Forever)
		})
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.Duration).To(Equal(55 * time.Minute))
	},
		Entry("a tool call", func(req llm.Request) { req.OnActivity("Bash") }),
		Entry("a piece of text", func(req llm.Request) { req.OnText("a") }),
	)

	It("may take any time with 0, and keeps the caller's functions", func() {
		r := newRig(loop.Options{IdleTimeout: within(0), Timeout: within(0)}, sayIn(5*time.Hour, "DONE"))
		Expect(r.run().Status).To(Equal(loop.StatusDone))
		var tools []string
		r = newRig(loop.Options{IdleTimeout: within(time.Minute)})
		r.deps.OnActivity = func(tool string) { tools = append(tools, tool) }
		r.deps.Backend = llm.BackendFunc(func(_ context.Context, req llm.Request) (llm.Reply, error) {
			req.OnActivity("Bash")
			return llm.Reply{Text: "DONE"}, nil
		})
		r.run()
		Expect(tools).To(Equal([]string{"Bash"}))
	})

	It("is ended by the earlier of both limits of a call", func() {
		r := newRig(loop.Options{IdleTimeout: within(10 * time.Minute), CallTimeout: within(time.Minute)}, hang)
		Expect(r.run().Details).To(ContainSubstring("no answer within 1m0s (call_timeout)"))
	})
})
