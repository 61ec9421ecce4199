package persist_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
)

var _ = Describe("What fails inside", func() {
	It("is a failed attempt where a worker panics", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{func(context.Context, *rig, persist.Assignment) persist.Outcome { panic("oh") }, done}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(r.emitted(event.Guard, "retry")).To(ConsistOf(HaveField("Detail", ContainSubstring("panic: oh"))))
	})

	It("is a failed attempt where a worker gives no grade", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{grade("", ""), done}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(r.emitted(event.Guard, "retry")).To(ConsistOf(HaveField("Detail", ContainSubstring(`the unknown grade ""`))))
	})

	DescribeTable("leaves a check unknown",
		func(broken persist.Probe) {
			r := newRig(tasks("a"))
			r.deps.Probes[plan.CheckTests] = broken
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusEscalated))
			Expect(verdict(result, plan.CheckTests)).To(Equal(plan.Unknown))
		},
		Entry("where a probe panics", persist.Probe(func(context.Context) plan.CheckResult { panic("oh") })),
		Entry("where it gives no verdict", persist.Probe(func(context.Context) plan.CheckResult { return plan.CheckResult{} })),
	)

	It("shows the stop guard each answer with the text of its task", func() {
		p := tasks("a", "b<a")
		p.Tasks[1].Do = "Write the tests."
		r := newRig(p)
		var seen []string
		r.deps.Judge = func(_ context.Context, request, _ string) stop.Verdict {
			seen = append(seen, request)
			return stop.Verdict{MayStop: true}
		}
		r.run()
		Expect(seen).To(Equal([]string{p.Tasks[0].Do, "Write the tests."}))
	})

	It("leaves the stop guard's check unknown where the judge panics", func() {
		r := newRig(tasks("a"))
		r.deps.Judge = func(context.Context, string, string) stop.Verdict { panic("oh") }
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusEscalated))
		Expect(verdict(result, plan.CheckStopGuard)).To(Equal(plan.Unknown))
	})

	It("ends the run where the sink panics", func() {
		r := newRig(tasks("a"))
		r.deps.Sink = event.SinkFunc(func(event.Event) { panic("oh") })
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusError))
		Expect(result.Details).To(Equal("panic: oh"))
	})

	It("ends the run where a probe that the plan names is not given", func() {
		p := tasks("a")
		p.Checks = map[plan.Check]plan.Probe{plan.CheckTests: {Command: []string{"true"}}}
		result := newRig(p).run()
		Expect(result.Status).To(Equal(persist.StatusEscalated))
		Expect(verdict(result, plan.CheckTests)).To(Equal(plan.Unknown))
	})
})

var _ = Describe("A disk that fills", Label("P-05"), func() {
	full := errors.New("no space left on device")

	It("during a checkpoint ends the run with its name, and leaves the state", func() {
		r := newRig(many(12))
		r.store.fail = func(_ int, what string) failure {
			if what == "checkpoint" {
				return failure{err: full, once: true}
			}
			return failure{}
		}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusError))
		Expect(result.ExitCode).To(Equal(1))
		Expect(result.Err).To(MatchError(full))
		Expect(result.Details).To(And(ContainSubstring(`making the checkpoint "interval"`), ContainSubstring("start again")))
		Expect(r.clock.Elapsed()).To(Equal(5*time.Minute), "at once")

		done := len(r.worked)
		Expect(done).To(BeNumerically(">", 3))
		result = r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(result.Counts.Done).To(Equal(12))
		Expect(r.worked).To(HaveLen(12 + 1))
		Expect(r.worked[done]).To(Equal(r.worked[done-1]), "only the one under way was made again")
	})

	It("during the checkpoint before a segment ends refuses the call that it was for", func() {
		p := tasks("a", "b")
		p.Limits.HardCalls, p.Limits.SoftCalls = 10, 8
		r := newRig(p)
		r.store.fail = func(_ int, what string) failure {
			return failure{err: map[bool]error{true: full}[what == "checkpoint"], once: true}
		}
		made := 0
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			for made = range 10 {
				if err := a.Meter.Call(1); err != nil {
					Expect(err).To(MatchError(full))
					Expect(a.Meter.Call(1)).To(MatchError(full))
					return persist.Outcome{Grade: persist.Failed, Details: err.Error()}
				}
			}
			return done(ctx, r, a)
		}}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusError))
		Expect(result.Err).To(MatchError(full))
		Expect(made).To(Equal(7))
	})

	It("while it is counted that the run goes on ends it before anything is done", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{grade(persist.Escalated, "who?")}
		r.run()
		r.store = r.store.reopen()
		r.deps.Store = r.store
		r.store.fail = func(_ int, what string) failure {
			return failure{err: map[bool]error{true: full}[what == "resumes.json"], once: true}
		}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusError))
		Expect(result.Err).To(MatchError(full))
		Expect(r.worked).To(HaveLen(1))
		Expect(r.again().Counts.Resumes).To(Equal(1))
	})

	It("while an outcome is written leaves a result that describes the stored part", func() {
		for late := range 2 {
			r := newRig(tasks("a", "b"))
			r.store.fail = func(n int, _ string) failure {
				return failure{err: map[bool]error{true: full}[n == 3], late: late == 1}
			}
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusError))
			Expect(r.worked).To(Equal([]string{"a#1"}))
			Expect(states(result)).To(Equal(map[string]string{"a": "waiting", "b": "waiting"}))
			Expect(result.Counts.Done).To(BeZero())
			Expect(r.again().Status).To(Equal(persist.StatusComplete))
		}
	})

	DescribeTable("while files leave the context lets them stay", Label("P-06"),
		func(spoil func(*rig)) {
			p := tasks("a", "b", "c", "d")
			p.Limits.ContextFiles = 2
			p.Tasks[0].Files, p.Tasks[2].Files = []string{"1", "2"}, []string{"3"}
			r := newRig(p)
			spoil(r)
			Expect(r.run().Status).To(Equal(persist.StatusComplete))
			Expect(r.attrs(event.Guard, "context-kept", "task")).To(Equal([]any{"c"}))
			Expect(r.prompts[2]).To(ContainSubstring("- 1\n- 2\n\nFurther files of this task, beyond the limit of the context:\n- 3\n"))
			Expect(r.emitted(event.State, "context")).To(BeEmpty())
		},
		Entry("where they cannot be saved", func(r *rig) {
			r.store.fail = func(_ int, what string) failure {
				if what == "context.json" {
					return failure{err: full, once: true}
				}
				return failure{}
			}
		}),
		Entry("where something else is read back", func(r *rig) { r.deps.Store = forging{r.store} }),
	)
})

// forging reads back something else than was saved.
type forging struct{ *tape }

func (f forging) Read(name string) ([]byte, error) {
	data, err := f.tape.Read(name)
	return append(data, ' '), err
}
