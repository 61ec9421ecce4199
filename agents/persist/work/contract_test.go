//go:build unix

package work_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/work"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// The contract of persist.Worker, which every worker keeps.
var _ = Describe("A worker", func() {
	for name, build := range map[string]func(turns ...turn) *rig{
		"loop":    func(turns ...turn) *rig { return newLoop(loop.Options{}, turns...) },
		"agent":   newAgent,
		"command": func(...turn) *rig { return newCommand("sleep 600") },
	} {
		Context("that is a "+name, func() {
			DescribeTable("does not begin when the attempt is over", func(cause error, want persist.Grade) {
				r := build()
				ctx, cancel := context.WithCancelCause(context.Background())
				cancel(cause)
				out := r.workIn(ctx)
				Expect(out.Grade).To(Equal(want))
				Expect(out.Details).To(ContainSubstring(cause.Error()))
				Expect(r.requests).To(BeEmpty())
				Expect(r.meter.calls).To(BeZero())
			},
				Entry("by the watchdog", errStagnation, persist.Failed),
				Entry("with its segment", persist.ErrSegment, persist.Split),
				Entry("by the user", errTest, persist.Failed),
				Entry("at a deadline", context.DeadlineExceeded, persist.Failed),
			)

			It("asks the meter before it calls, and does not call when that refuses", func() {
				r := build(say("DONE"))
				r.meter.allowed = 0
				out := r.work()
				Expect(out.Grade).To(Equal(persist.Split), "%+v", out)
				Expect(r.requests).To(BeEmpty())
			})

			It("lets no panic of the meter through", func() {
				r := build(say("DONE"))
				r.meter.onCall = func(int) { panic("boom") }
				out := r.work()
				Expect(out.Grade).To(Equal(persist.Failed), "%+v", out)
				Expect(out.Details).To(ContainSubstring("panic: boom"))
			})

			It("works without a clock, a sink or a budget", func() {
				r := build(say("DONE"))
				r.deps.Clock, r.deps.Sink = nil, nil
				r.meter.allowed = 0
				workers, err := work.Build(r.plan, r.deps)
				Expect(err).NotTo(HaveOccurred())
				Expect(workers["w"].Work(context.Background(), r.assignment()).Grade).To(Equal(persist.Split))
			})
		})
	}

	for name, build := range map[string]func(turns ...turn) *rig{
		"loop":  func(turns ...turn) *rig { return newLoop(loop.Options{}, turns...) },
		"agent": newAgent,
	} {
		Context("that calls a backend, as a "+name, func() {
			DescribeTable("ends when the attempt does, during a call", func(cause error, want persist.Grade) {
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				r := build(func(ctx context.Context, r *rig, _ llm.Request) (llm.Reply, error) {
					r.clock.AfterFunc(60_000_000_000, func() { cancel(cause) })
					return llm.Reply{}, r.clock.Sleep(ctx, clock.Forever)
				})
				out := r.workIn(ctx)
				Expect(out.Grade).To(Equal(want), "%+v", out)
				Expect(out.Details).To(ContainSubstring(cause.Error()))
				Expect(r.requests).To(HaveLen(1))
			},
				Entry("by the watchdog", errStagnation, persist.Failed),
				Entry("with its segment", persist.ErrSegment, persist.Split),
				Entry("by the user", errTest, persist.Failed),
			)

			It("fails at the deadline of the attempt", func() {
				r := build(func(ctx context.Context, r *rig, _ llm.Request) (llm.Reply, error) {
					return llm.Reply{}, r.clock.Sleep(ctx, clock.Forever)
				})
				ctx, cancel := r.clock.WithTimeout(context.Background(), 60_000_000_000)
				defer cancel()
				Expect(r.workIn(ctx).Grade).To(Equal(persist.Failed))
			})

			It("lets no panic of the backend or of the sink through", func() {
				r := build(func(context.Context, *rig, llm.Request) (llm.Reply, error) { panic("boom") })
				out := r.work()
				Expect(out.Grade).To(Equal(persist.Failed))
				Expect(out.Details).To(ContainSubstring("panic: boom"))
				r = build(say(searching))
				r.deps.Sink = event.SinkFunc(func(event.Event) { panic("boom") })
				Expect(r.work().Grade).To(Equal(persist.Failed))
			})
		})
	}
})
