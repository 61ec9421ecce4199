package persist_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// down returns an attempt whose backend is not there.
func down(context.Context, *rig, persist.Assignment) persist.Outcome {
	return persist.Outcome{Grade: persist.Failed, Later: true, Details: "the server answers 503"}
}

var _ = Describe("An outage of what the work needs", Label("P-04", "P-08"), func() {
	It("is waited for, longer each time, and does not count as a failure of the task", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{down, down, down, down, down, takes(time.Minute, done)}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(Equal([]string{"a#1", "a#2", "a#3", "a#4", "a#5", "a#6", "b#1"}))
		Expect(r.attrs(event.Guard, "outage", "wait")).To(Equal([]any{30, 120, 480, 600, 600}))
		Expect(r.attrs(event.Guard, "outage", "task")).To(HaveEach("a"))
		Expect(r.emitted(event.Guard, "outage")[0].Detail).To(And(ContainSubstring("the server answers 503"), ContainSubstring("1 of 10"), ContainSubstring("30s")))
		Expect(r.clock.Elapsed()).To(Equal(30*time.Second + 2*time.Minute + 8*time.Minute + 20*time.Minute + 2*time.Minute))
		Expect(len(r.emitted(event.Checkpoint, "interval"))).To(BeNumerically(">=", 5), "the state is saved while it waits")
	})

	It("for ever ends the run blocked, with all checks made and the other tasks unharmed", func() {
		r := newRig(many(600))
		for _, t := range r.plan.Tasks {
			r.deeds[t.ID] = []deed{down}
		}
		r.deps.Probes[plan.CheckTests] = probe(plan.Fail)
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusBlocked))
		Expect(result.Counts.Rounds).To(BeZero())
		Expect(result.Guard).To(Equal("outage"))
		Expect(result.Details).To(And(ContainSubstring("10 attempts in a row"), ContainSubstring(`task "t0001": the server answers 503`)))
		Expect(r.worked).To(HaveLen(10))
		Expect(result.Checks).To(HaveLen(len(plan.Checks())))
		Expect(states(result)).To(HaveEach("waiting"))

		clear(r.deeds)
		clear(r.deps.Probes)
		result = r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(r.emitted(event.Guard, "outage")).To(BeEmpty(), "a new run begins at once")
	})

	It("does not end the run if the last check shows that all work is done", func() {
		r := newRig(tasks("a"))
		r.deeds["round-1.tests"] = []deed{down}
		r.deps.Probes[plan.CheckTests] = probe(plan.Fail, plan.Pass)
		result := r.run()
		Expect(r.worked).To(HaveLen(11), "the plan's task, and ten times that of the check")
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(states(result)).To(Equal(map[string]string{"a": "done", "round-1.tests": "dropped"}))
	})

	It("names what was not there, also where the task that suffered from it is not the next one", func() {
		r := newRig(tasks("a"))
		r.deeds["round-1.compile"] = []deed{down}
		r.deps.Probes[plan.CheckCompile] = probe(plan.Fail, plan.Pass)
		r.deps.Probes[plan.CheckTests] = probe(plan.Fail)
		result := r.run()
		Expect(result.Guard).To(Equal("outage"))
		Expect(states(result)).To(HaveKeyWithValue("round-1.compile", "dropped"))
		Expect(result.Details).To(HaveSuffix(`last failure: task "round-1.compile": the server answers 503`))
		for _, e := range r.emitted(event.Guard, "outage") {
			Expect(e.Detail).To(ContainSubstring("the server answers 503"))
		}
	})

	It("leaves the task all its retries", func() {
		r := newRig(tasks("a"))
		no := grade(persist.Failed, "no")
		r.deeds["a"] = []deed{down, down, down, no, down, no, done}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(result.Counts.Rounds).To(BeZero())
		Expect(result.Counts.Retries).To(Equal(6))
	})

	It("counts in a row: any other outcome begins anew", func() {
		p := tasks("a", "b")
		retries := 100
		p.Tasks[0].Retries = &retries
		r := newRig(p)
		for range 12 {
			r.deeds["a"] = append(r.deeds["a"], down, grade(persist.Failed, "no"))
		}
		r.deeds["a"] = append(r.deeds["a"], done)
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.attrs(event.Guard, "outage", "wait")).To(HaveEach(30))
		Expect(r.attrs(event.Guard, "outage", "wait")).To(HaveLen(12))
	})

	It("is not what the watchdog ends, and not what a task's own time does", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			hangs(ctx, r, a)
			return down(ctx, r, a)
		}, done}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(r.emitted(event.Guard, "outage")).To(BeEmpty())
		Expect(r.emitted(event.Guard, "stagnation")).To(HaveLen(1))
	})

	It("does not count as activity without progress while it is waited for", func() {
		r := newRig(tasks("a"))
		for range 5 {
			r.deeds["a"] = append(r.deeds["a"], down)
		}
		r.plan.Limits.NoProgress = quantity.Duration(time.Hour)
		r.deeds["a"] = append(r.deeds["a"], works(55*time.Minute))
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(r.emitted(event.Guard, "no-progress")).To(BeEmpty())
	})

	It("can be interrupted, and is waited for again", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{down, done}
		ctx, cancel := context.WithCancelCause(context.Background())
		r.clock.AfterFunc(10*time.Second, func() { cancel(errors.New("Ctrl-C")) })
		result := r.runIn(ctx)
		Expect(result.Status).To(Equal(persist.StatusInterrupted))
		Expect(r.clock.Elapsed()).To(Equal(10 * time.Second))
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
	})
})
