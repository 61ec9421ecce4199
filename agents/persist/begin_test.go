package persist_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

var _ = Describe("A run that cannot begin", func() {
	DescribeTable("reports the missing part",
		func(spoil func(*rig), want string) {
			r := newRig(tasks("a"))
			spoil(r)
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusError))
			Expect(result.ExitCode).To(Equal(1))
			Expect(result.Details).To(ContainSubstring(want))
			Expect(r.worked).To(BeEmpty())
			Expect(r.store.lines).To(BeEmpty())
		},
		Entry("a store", func(r *rig) { r.deps.Store = nil }, "no store is given"),
		Entry("workers", func(r *rig) { r.deps.Workers = nil }, `no worker "default" is given`),
		Entry("a worker", func(r *rig) {
			r.plan.Workers = map[string]plan.Worker{"tester": {Command: []string{"true"}}}
			r.plan.Tasks[0].By = "tester"
		}, `no worker "tester" is given, which the task "a" needs`),
		Entry("a worker of a check", func(r *rig) {
			r.plan.Workers = map[string]plan.Worker{"tester": {Command: []string{"true"}}}
			r.plan.Checks = map[plan.Check]plan.Probe{plan.CheckTests: {Command: []string{"true"}, By: "tester"}}
		}, `no worker "tester" is given, which the check "tests" needs`),
		Entry("tasks", func(r *rig) { r.plan.Tasks = nil }, "the plan is not valid: tasks: the plan has no tasks"),
		Entry("an order", func(r *rig) { r.plan = tasks("a<b", "b<a") }, "a → b → a"),
	)

	It("names what of the plan is not what was begun, and leaves the state as it is", func() {
		r := newRig(tasks("a", "b", "c"))
		r.deeds["b"] = []deed{grade(persist.Blocked, "no")}
		r.run()
		written := len(r.store.lines)

		changed := tasks("a", "c", "d")
		changed.Tasks[0].Do = "Do something else."
		r.plan = changed
		result := r.again()
		Expect(result.Status).To(Equal(persist.StatusError))
		var why *persist.PlanChanged
		Expect(errors.As(result.Err, &why)).To(BeTrue(), "%v", result.Err)
		Expect(why.Changed).To(Equal([]string{"a"}))
		Expect(why.Added).To(Equal([]string{"d"}))
		Expect(why.Removed).To(Equal([]string{"b"}))
		Expect(r.store.lines).To(HaveLen(written))

		_, err := persist.Look(changed, r.store.reopen())
		Expect(errors.As(err, &why)).To(BeTrue())
	})

	It("reports a missing journal beside a snapshot, and repeats nothing", func() {
		r := newRig(tasks("a", "b"))
		r.deps.Store = gone{r.store}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusError))
		Expect(result.Err).To(MatchError(journal.ErrCorrupt))
		Expect(r.worked).To(BeEmpty())
		_, err := persist.Look(r.plan, gone{r.store.reopen()})
		Expect(err).To(MatchError(journal.ErrCorrupt))
	})

	DescribeTable("goes on with a plan that means the same",
		func(change func(*plan.Plan)) {
			r := newRig(tasks("a", "b"))
			r.deeds["b"] = []deed{grade(persist.Blocked, "no")}
			r.run()
			r.deeds["b"] = nil
			change(&r.plan)
			Expect(r.again().Status).To(Equal(persist.StatusComplete))
		},
		Entry("limits", func(p *plan.Plan) { p.Limits.Rounds, p.Limits.ContextFiles = 9, 7 }),
		Entry("retries", func(p *plan.Plan) { p.Tasks[0].Retries = new(int) }),
		Entry("a timeout", func(p *plan.Plan) { p.Tasks[1].Timeout = quantity.Duration(time.Hour) }),
		Entry("a check", func(p *plan.Plan) {
			p.Checks = map[plan.Check]plan.Probe{plan.CheckTests: {None: "there are no tests"}}
		}),
	)
})

var _ = Describe("A run that ended", Label("P-05"), func() {
	It("and was complete does nothing more", func() {
		r := newRig(tasks("a", "b"))
		first := r.run()
		written, writes := len(r.store.lines), r.store.writes
		second := r.again()
		Expect(r.worked).To(HaveLen(2))
		Expect(r.store.lines).To(HaveLen(written))
		Expect(r.store.writes).To(BeZero(), "%d before", writes)
		second.Duration, first.Duration = 0, 0
		Expect(second).To(Equal(first))
	})

	DescribeTable("otherwise goes on, with rounds and retries anew",
		func(spoil func(*rig), want persist.Status) {
			r := newRig(tasks("a", "b<a", "c"))
			spoil(r)
			Expect(r.run().Status).To(Equal(want))
			clear(r.deeds)
			clear(r.deps.Probes)
			result := r.again()
			Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
			Expect(result.Counts.Resumes).To(Equal(1))
			Expect(result.Counts.Done - result.Counts.Derived).To(Equal(3))
			Expect(r.emitted(event.State, "resume")).To(HaveLen(1))
			again, _ := persist.Look(r.plan, r.store.reopen())
			Expect(again.Status).To(Equal(persist.StatusComplete))
			Expect(states(again)).To(Equal(states(result)))
		},
		Entry("blocked", func(r *rig) { r.deeds["a"] = []deed{grade(persist.Blocked, "no")} }, persist.StatusBlocked),
		Entry("failed", func(r *rig) { r.deeds["a"] = []deed{grade(persist.Failed, "no")} }, persist.StatusBlocked),
		Entry("escalated", func(r *rig) { r.deeds["a"] = []deed{grade(persist.Escalated, "no")} }, persist.StatusEscalated),
		Entry("unknown", func(r *rig) { r.deps.Probes[plan.CheckTests] = probe(plan.Unknown) }, persist.StatusEscalated),
		Entry("capped", func(r *rig) { r.deps.Probes[plan.CheckTests] = probe(plan.Fail) }, persist.StatusCapped),
		Entry("over budget", func(r *rig) {
			r.deeds["c"] = []deed{func(context.Context, *rig, persist.Assignment) persist.Outcome {
				return persist.Outcome{Grade: persist.Failed, Capped: "cost", Details: "too dear"}
			}}
		}, persist.StatusBudget),
	)

	It("makes as many attempts at a failed task again as at first", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{grade(persist.Failed, "no")}
		r.run()
		Expect(r.worked).To(HaveLen(4))
		Expect(r.again().Status).To(Equal(persist.StatusBlocked))
		Expect(r.worked).To(HaveLen(8))
	})
})

// gone is a store whose journal is gone, and whose snapshot so stands for nothing.
type gone struct{ *tape }

func (gone) Load(func([]byte) error, func([]byte) error) (journal.Recovery, error) {
	return journal.Recovery{SnapshotLost: "it stands for 7 records, which are not those of this journal"}, nil
}
