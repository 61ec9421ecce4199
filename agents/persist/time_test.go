package persist_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
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
		Expect(r.told(event.Checkpoint, "interval")).To(HaveLen(4))
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
		Expect(r.told(event.Guard, "retry")).To(ConsistOf(HaveField("Detail", ContainSubstring("no result within 3m0s (timeout)"))))
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
		Expect(r.told(event.Checkpoint, "soft-limit")).To(HaveLen(2))
		Expect(r.told(event.Checkpoint, "segment")).To(HaveLen(2))
		Expect(r.told(event.Guard, "soft-limit")[0].Detail).To(ContainSubstring("900 tool calls in segment 1"))
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
		for _, e := range r.told(event.Iteration, "task") {
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

var _ = Describe("Files in context", Label("P-06"), func() {
	// named is a plan of n tasks, each with a file of its own, without looks at the
	// context.
	named := func(n int) plan.Plan {
		p := many(n)
		p.Limits.OptimiseEvery = quantity.Duration(24 * time.Hour)
		for i := range p.Tasks {
			p.Tasks[i].Files = []string{fmt.Sprintf("file%03d.go", i+1)}
		}
		return p
	}

	DescribeTable("are at most fifty",
		func(n, evicted int) {
			r := newRig(named(n))
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusComplete))
			Expect(result.Counts.Evicted).To(Equal(evicted))
			for _, prompt := range r.prompts {
				Expect(strings.Count(prompt, "- file")).To(BeNumerically("<=", 50))
			}
			saved, err := r.store.Read("context.json")
			if evicted == 0 {
				Expect(err).To(MatchError(fs.ErrNotExist))
				return
			}
			Expect(err).NotTo(HaveOccurred())
			left := 0
			for _, record := range r.store.records() {
				if record.Context != nil {
					left += len(record.Context.Evicted)
					for _, file := range record.Context.Evicted {
						Expect(string(saved)).To(ContainSubstring(`"` + file + `"`))
					}
				}
			}
			Expect(left).To(Equal(evicted))
			for i, e := range r.told(event.Checkpoint, "context") {
				Expect(e.N).To(Equal(i + 1))
			}
			Expect(len(r.told(event.Checkpoint, "context"))).To(BeNumerically("<=", 1+evicted/40), "one save for many")
		},
		Entry("of 50", 50, 0), Entry("of 51", 51, 1), Entry("of 500", 500, 450),
	)

	It("that an attempt touches are in the next prompt, the last one used last", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{touches("x.go", "y.go", "x.go")}
		r.run()
		Expect(r.prompts[1]).To(ContainSubstring("- x.go\n- y.go\n"))
	})

	It("come back once when a task names them", func() {
		p := named(60)
		p.Tasks[59].Files = []string{"file001.go", "file001.go"}
		r := newRig(p)
		result := r.run()
		Expect(result.Counts.Restored).To(Equal(1))
		Expect(strings.Count(r.prompts[59], "- file001.go")).To(Equal(1))
		Expect(strings.Count(r.prompts[59], "- file")).To(Equal(50))
	})

	It("are as many as the plan says now, after a restart", func() {
		p := named(30)
		r := newRig(p)
		r.deeds["t0020"] = []deed{grade(persist.Escalated, "who?")}
		r.run()
		r.plan.Limits.ContextFiles = 7
		r.deeds["t0020"] = nil
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		Expect(strings.Count(r.prompts[len(r.prompts)-1], "- file")).To(Equal(7))
	})

	It("stay while one of the next tasks names them", func() {
		p := named(60)
		p.Tasks[52].Files = []string{"file001.go"}
		r := newRig(p)
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(result.Counts.Restored).To(BeZero())
	})

	It("are looked over every fifteen minutes, and leave if nobody used or names them", func() {
		r := newRig(many(60))
		r.deeds["t0001"] = []deed{touches("old.go")}
		r.deeds["t0020"] = []deed{touches("new.go")}
		r.run()
		var looks []time.Duration
		for _, record := range r.store.of("context") {
			looks = append(looks, record.At)
		}
		Expect(looks).To(Equal([]time.Duration{15 * time.Minute, 30 * time.Minute, 45 * time.Minute, time.Hour}))
		Expect(strings.Count(r.prompts[29], "- old.go")).To(Equal(1))
		Expect(strings.Count(r.prompts[30], "- old.go")).To(BeZero())
		Expect(strings.Count(r.prompts[30], "- new.go")).To(Equal(1))
	})

	It("of a hostile worker are bounded", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			for i := range 100_000 {
				a.Meter.Touch(fmt.Sprintf("f%d", i))
			}
			a.Meter.Touch(string(make([]byte, 1<<20)))
			return done(ctx, r, a)
		}}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		for _, line := range r.store.lines {
			Expect(len(line)).To(BeNumerically("<", 64<<10))
		}
	})
})

var _ = Describe("A run of ten hours", Label("P-09"), func() {
	It("takes no time, and tells the same each time", func() {
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
