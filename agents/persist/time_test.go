package persist_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// works stays active for a time, with a sign of life each minute.
func works(d time.Duration) deed {
	return func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
		for range int(d / time.Minute) {
			if err := r.clock.Sleep(ctx, time.Minute); err != nil {
				return persist.Outcome{Grade: persist.Failed, Details: err.Error()}
			}
			a.Meter.Active()
		}
		return done(ctx, r, a)
	}
}

var _ = Describe("Keep-alive", Label("P-04"), func() {
	It("saves the state every five minutes, also while a task runs", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{works(23 * time.Minute)}
		var at []time.Duration
		sink := r.deps.Sink
		r.deps.Sink = event.SinkFunc(func(e event.Event) {
			if e.Kind == event.Checkpoint {
				at = append(at, r.clock.Elapsed())
			}
			sink.Emit(e)
		})
		result := r.run()
		Expect(at).To(Equal([]time.Duration{5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 23 * time.Minute}))
		Expect(r.emitted(event.Checkpoint, "interval")).To(HaveLen(4))
		Expect(result.Counts.Checkpoints).To(Equal(5))
	})

	It("counts the time from the last checkpoint, whatever it was for", func() {
		p := tasks("a")
		p.Limits.HardCalls, p.Limits.SoftCalls = 10, 3
		r := newRig(p)
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			_ = r.clock.Sleep(ctx, 3*time.Minute)
			_ = a.Meter.Call(3) // the soft limit: a checkpoint
			_ = r.clock.Sleep(ctx, 6*time.Minute)
			return done(ctx, r, a)
		}}
		var at []string
		r.deps.Sink = event.SinkFunc(func(e event.Event) {
			if e.Kind == event.Checkpoint {
				at = append(at, fmt.Sprint(e.Name, " ", r.clock.Elapsed()))
			}
		})
		r.run()
		Expect(at).To(Equal([]string{"soft-limit 3m0s", "interval 8m0s", "final 9m0s"}))
	})

	It("ends a task that shows no activity for ten minutes, and takes the next one", func() {
		r := newRig(tasks("a", "b", "c"))
		var ended time.Duration
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			out := hangs(ctx, r, a)
			ended = r.clock.Elapsed()
			Expect(clock.Err(ctx)).To(MatchError(ContainSubstring("no activity")))
			return out
		}, done}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(ended).To(Equal(10 * time.Minute))
		Expect(r.worked).To(Equal([]string{"a#1", "b#1", "c#1", "a#2"}))
		Expect(result.Counts.Stagnations).To(Equal(1))
		Expect(r.attrs(event.Guard, "stagnation", "task")).To(Equal([]any{"a"}))
		Expect(r.prompts[3]).To(ContainSubstring("> no activity for 10m0s (limits.stagnation)"))
	})

	It("sees activity: calls and files are such, too", func() {
		for _, sign := range []func(persist.Meter){
			persist.Meter.Active,
			func(m persist.Meter) { m.Touch("a.go") },
			func(m persist.Meter) { _ = m.Call(1) },
		} {
			r := newRig(tasks("a"))
			r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
				for range 6 {
					if err := r.clock.Sleep(ctx, 9*time.Minute+59*time.Second); err != nil {
						return persist.Outcome{Grade: persist.Failed, Details: err.Error()}
					}
					sign(a.Meter)
				}
				return done(ctx, r, a)
			}}
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusComplete))
			Expect(result.Counts.Stagnations).To(BeZero())
		}
	})

	It("does not count the time that a task waits for a person, and counts again after it", func() {
		r := newRig(tasks("a", "b"))
		var ended []time.Duration
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			resume, again := a.Meter.Pause(), a.Meter.Pause()
			Expect(r.clock.Sleep(ctx, 3*time.Hour)).To(Succeed())
			resume()
			resume() // the second time it does nothing
			Expect(r.clock.Sleep(ctx, 5*time.Hour)).To(Succeed())
			again()
			start := r.clock.Elapsed()
			out := hangs(ctx, r, a)
			ended = append(ended, r.clock.Elapsed()-start)
			return out
		}, func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			a.Meter.Pause() // and never resumes
			return takes(time.Hour, done)(ctx, r, a)
		}}
		r.deeds["b"] = []deed{works(119 * time.Minute)}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(ended).To(Equal([]time.Duration{10 * time.Minute}))
		Expect(r.worked).To(Equal([]string{"a#1", "b#1", "a#2"}))
		Expect(result.Counts.Stagnations).To(Equal(1))
	})

	It("counts two hours around the time that a task waits for a person", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			resume, again := a.Meter.Pause(), a.Meter.Pause()
			_ = r.clock.Sleep(ctx, time.Hour)
			resume()
			_ = r.clock.Sleep(ctx, time.Hour)
			again()
			return works(3*time.Hour)(ctx, r, a)
		}, done}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(r.attrs(event.Guard, "no-progress", "task")).To(Equal([]any{"a"}))
		Expect(r.store.of("outcome")[0].At).To(Equal(4 * time.Hour))
	})

	It("ends a task that is busy for two hours while none is done", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{works(5 * time.Hour), works(time.Hour)}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(Equal([]string{"a#1", "b#1", "a#2"}))
		Expect(r.clock.Elapsed()).To(Equal(3*time.Hour + time.Minute))
		Expect(r.attrs(event.Guard, "no-progress", "task")).To(Equal([]any{"a"}))
		Expect(result.Counts.Stagnations).To(BeZero(), "it was active")
	})

	It("counts two hours over all attempts that did nothing", func() {
		r := newRig(tasks("a", "b"))
		zero := 0
		r.plan.Tasks[0].Retries = &zero
		fails := func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			works(90*time.Minute)(ctx, r, a)
			return persist.Outcome{Grade: persist.Failed, Details: "no"}
		}
		r.deeds["a"] = []deed{fails, done}
		r.deeds["b"] = []deed{works(31 * time.Minute), works(31 * time.Minute)}
		r.run()
		Expect(r.worked[:3]).To(Equal([]string{"a#1", "b#1", "b#2"}))
		Expect(r.attrs(event.Guard, "no-progress", "task")).To(Equal([]any{"b"}))
	})

	It("ends an attempt when its task's own time is up", func() {
		p := tasks("a", "b")
		p.Tasks[0].Timeout = quantity.Duration(3 * time.Minute)
		r := newRig(p)
		r.deeds["a"] = []deed{hangs, done}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"a#1", "a#2", "b#1"}))
		Expect(r.emitted(event.Guard, "retry")).To(ConsistOf(HaveField("Detail", ContainSubstring("no result within 3m0s (timeout)"))))
	})

	It("keeps what was done although the watchdog was first", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			hangs(ctx, r, a)
			return done(ctx, r, a)
		}}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(HaveLen(1))
	})

	It("is blocked in the end by a task that always hangs", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{hangs}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusBlocked))
		Expect(result.Counts.Stagnations).To(Equal(4))
		Expect(result.Details).To(ContainSubstring("no activity"))
	})
})

var _ = Describe("Tool calls", Label("P-07"), func() {
	It("make a checkpoint past 900 and a new segment at 1,000", func() {
		r := newRig(tasks("a", "b"))
		left := 2500
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			for ; left > 0; left-- {
				if err := a.Meter.Call(1); err != nil {
					Expect(err).To(Equal(persist.ErrSegment))
					Expect(clock.Err(ctx)).To(Equal(persist.ErrSegment))
					return persist.Outcome{Grade: persist.Split, Carry: fmt.Sprintf("%d are left", left)}
				}
			}
			return done(ctx, r, a)
		}}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(Equal([]string{"a#1", "a#2", "a#3", "b#1"}))
		Expect(result.Counts.ToolCalls).To(Equal(2500))
		Expect(result.Counts.Segments).To(Equal(3))
		Expect(result.Counts.Retries).To(BeZero(), "to be split is no failure")
		Expect(r.attrs(event.Iteration, "task", "calls")).To(Equal([]any{1000, 1000, 500, 0}))
		Expect(r.emitted(event.Checkpoint, "soft-limit")).To(HaveLen(2))
		Expect(r.emitted(event.Checkpoint, "segment")).To(HaveLen(2))
		Expect(r.emitted(event.Guard, "soft-limit")[0].Detail).To(ContainSubstring("900 tool calls in segment 1"))
		Expect(r.prompts[1]).To(ContainSubstring("> 1500 are left"))
		Expect(r.prompts[0]).NotTo(ContainSubstring("left for you to know"))
	})

	It("never come to more than 1,000 in a segment, however many are asked for at once", func() {
		r := newRig(many(30))
		for _, t := range r.plan.Tasks {
			r.deeds[t.ID] = []deed{asks(77)}
		}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		perSegment := map[int]int{}
		for _, e := range r.emitted(event.Iteration, "task") {
			perSegment[e.Attrs["segment"].(int)] += e.Attrs["calls"].(int)
		}
		for n, calls := range perSegment {
			Expect(calls).To(BeNumerically("<=", 1000), "segment %d", n)
		}
		Expect(perSegment).To(HaveLen(3))
	})

	It("that are more than a segment holds get one for themselves", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["b"] = []deed{asks(1001)}
		r.deeds["a"] = []deed{asks(1)}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(Equal([]string{"a#1", "b#1", "b#2"}))
	})

	It("split a task also where its worker calls that a failure", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			for range 1001 {
				if err := a.Meter.Call(1); err != nil {
					return persist.Outcome{Grade: persist.Failed, Details: err.Error()}
				}
			}
			return done(ctx, r, a)
		}, done}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(result.Counts.Retries).To(BeZero())
		Expect(result.Counts.Segments).To(Equal(2))
	})

	It("count again after a restart in the middle of a segment", func() {
		r := newRig(many(30))
		for _, t := range r.plan.Tasks {
			r.deeds[t.ID] = []deed{asks(77)}
		}
		r.store.fail = func(n int, _ string) failure { return failure{err: map[bool]error{true: errKilled}[n == 20]} }
		Expect(r.run().Status).To(Equal(persist.StatusError))
		result := r.again()
		Expect(result.Counts.ToolCalls).To(Equal(30 * 77))
		Expect(result.Counts.Segments).To(Equal(3))
	})
})

// asks makes n tool calls at once.
func asks(n int) deed {
	return func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
		if err := a.Meter.Call(n); err != nil {
			return persist.Outcome{Grade: persist.Split}
		}
		return done(ctx, r, a)
	}
}

var _ = Describe("A run of ten hours", Label("P-09"), func() {
	It("takes no time, and emits the same events each time", func() {
		tell := func() ([]event.Event, []string, persist.Result) {
			p := many(600)
			r := newRig(p)
			for i, t := range p.Tasks {
				switch i % 50 {
				case 7:
					r.deeds[t.ID] = []deed{hangs, done}
				case 20:
					r.deeds[t.ID] = []deed{grade(persist.Failed, "no"), done}
				case 30:
					r.deeds[t.ID] = []deed{asks(400), done}
				}
			}
			r.deps.Probes[plan.CheckTests] = probe(slices.Concat(slices.Repeat([]plan.Verdict{plan.Pass}, 50), []plan.Verdict{plan.Fail}, []plan.Verdict{plan.Pass})...)
			result := r.run()
			Expect(r.clock.Elapsed()).To(BeNumerically(">", 10*time.Hour))
			return r.events, r.store.text(), result
		}
		events, records, result := tell()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(result.Counts.Stagnations).To(Equal(12))
		Expect(result.Counts.Checkpoints).To(BeNumerically(">", 120))
		again, recordsAgain, resultAgain := tell()
		Expect(again).To(Equal(events))
		Expect(recordsAgain).To(Equal(records))
		Expect(resultAgain).To(Equal(result))
	})
})
