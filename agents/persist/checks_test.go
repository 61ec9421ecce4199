package persist_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/event"
)

// names returns those of all checks.
func names() []plan.Check {
	var all []plan.Check
	for _, info := range plan.Checks() {
		all = append(all, info.Name)
	}
	return all
}

// each makes a table entry of each check.
func each() []TableEntry {
	var entries []TableEntry
	for _, name := range names() {
		entries = append(entries, Entry(string(name), name))
	}
	return entries
}

// fixedBy passes once one of the tasks was worked on.
func (r *rig) fixedBy(task string) persist.Probe {
	return persist.Probe(func(context.Context) plan.CheckResult {
		if slices.ContainsFunc(r.worked, func(key string) bool { return strings.HasPrefix(key, task+"#") }) {
			return plan.CheckResult{Verdict: plan.Pass}
		}
		return plan.CheckResult{Verdict: plan.Fail, Details: "something is wrong", Items: []string{"here", "there"}}
	})
}

var _ = Describe("A check", Label("P-01"), func() {
	It("is one of thirteen, all of which are reported by name before a stop", func() {
		r := newRig(tasks("a"))
		result := r.run()
		var reported []plan.Check
		for _, c := range result.Checks {
			reported = append(reported, c.Name)
		}
		Expect(reported).To(Equal(names()))
		Expect(reported).To(HaveLen(13))
		var emitted []plan.Check
		for _, e := range r.emitted(event.Verdict, "check") {
			emitted = append(emitted, plan.Check(e.Attrs["check"].(string)))
		}
		Expect(emitted).To(Equal(names()))
		Expect(r.emitted(event.Verdict, "checks")).To(ConsistOf(HaveField("Attrs", Equal(map[string]any{
			"pass": 9, "fail": 0, "unknown": 0, "none": 4, "why": "queue-empty",
		}))))
	})

	DescribeTable("that fails forces a round, and passes after it", Label("P-02"),
		func(name plan.Check) {
			r := newRig(tasks("a"))
			r.deps.Probes[name] = r.fixedBy("round-1." + string(name))
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
			Expect(r.worked).To(Equal([]string{"a#1", "round-1." + string(name) + "#1"}))
			Expect(result.Counts.Rounds).To(Equal(1))
			Expect(result.Counts.Derived).To(Equal(1))
			Expect(result.Tasks[1].From).To(Equal(string(name)))
			Expect(r.prompts[1]).To(And(
				ContainSubstring(fmt.Sprintf("the check %q fails", name)), ContainSubstring("something is wrong"),
				ContainSubstring(`- "here"`), ContainSubstring(`- "there"`),
			))
			Expect(r.attrs(event.Verdict, "checks", "why")).To(Equal([]any{"queue-empty", "after-task", "final"}))
			Expect(r.emitted(event.Guard, "continuation")).To(ConsistOf(And(
				HaveField("N", 1), HaveField("Attrs", Equal(map[string]any{"tasks": 1, "checks": string(name)})),
			)))
		}, each(),
	)

	DescribeTable("that fails for ever caps the run, as a round changed nothing", Label("P-08"),
		func(name plan.Check) {
			r := newRig(tasks("a"))
			r.deps.Probes[name] = probe(plan.Fail)
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusCapped))
			Expect(result.ExitCode).To(Equal(8))
			Expect(result.Guard).To(Equal("no_progress"))
			Expect(result.Details).To(ContainSubstring(string(name)))
			Expect(result.Counts.Rounds).To(Equal(1))
			Expect(failing(result)).To(Equal([]plan.Check{name}))
		}, each(),
	)

	DescribeTable("that is unknown ends the run escalated, without a round",
		func(name plan.Check) {
			r := newRig(tasks("a"))
			r.deps.Probes[name] = probe(plan.Unknown)
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusEscalated))
			Expect(result.Counts.Rounds).To(BeZero())
		}, each(),
	)

	It("that finds something else each time caps the run after the last round", Label("P-02"), func() {
		p := tasks("a")
		p.Limits.Rounds = 3
		r := newRig(p)
		n := 0
		r.deps.Probes[plan.CheckTests] = persist.Probe(func(context.Context) plan.CheckResult {
			n++
			return plan.CheckResult{Verdict: plan.Fail, Items: []string{fmt.Sprintf("Test%d", n)}}
		})
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusCapped))
		Expect(result.Guard).To(Equal("rounds"))
		Expect(result.Counts.Rounds).To(Equal(3))
		Expect(r.worked).To(Equal([]string{"a#1", "round-1.tests#1", "round-2.tests#1", "round-3.tests#1"}))
	})

	It("for which there is nothing to check hinders nothing, and is named", func() {
		p := tasks("a")
		p.Checks = map[plan.Check]plan.Probe{plan.CheckTests: {None: "it is a text"}}
		result := newRig(p).run()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(result.Details).To(ContainSubstring("not checked: compile, tests, features, validation"))
	})

	It("is requested as the plan describes, from the worker that it names", func() {
		p := tasks("a")
		p.Workers = map[string]plan.Worker{"fixer": {Command: []string{"fix"}}}
		p.Checks = map[plan.Check]plan.Probe{plan.CheckTests: {Command: []string{"test"}, Fix: "Make the tests green.", By: "fixer"}}
		r := newRig(p)
		var by []string
		r.deps.Workers["fixer"] = workerFunc(func(ctx context.Context, a persist.Assignment) persist.Outcome {
			by = append(by, a.Task.Do)
			return r.Work(ctx, a)
		})
		r.deps.Probes[plan.CheckTests] = r.fixedBy("round-1.tests")
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(by).To(Equal([]string{"Make the tests green."}))
	})

	It("takes as long as its probe does", func() {
		r := newRig(tasks("a"))
		r.deps.Probes[plan.CheckTests] = persist.Probe(func(ctx context.Context) plan.CheckResult {
			_ = r.clock.Sleep(ctx, 7*time.Minute)
			return plan.CheckResult{Verdict: plan.Pass, Name: "forged", Took: time.Hour}
		})
		result := r.run()
		Expect(result.Checks).To(ContainElement(plan.CheckResult{Name: plan.CheckTests, Verdict: plan.Pass, Took: 7 * time.Minute}))
	})

	It("of a hostile probe is bounded", func() {
		r := newRig(tasks("a"))
		r.deps.Probes[plan.CheckTests] = persist.Probe(func(context.Context) plan.CheckResult {
			huge := strings.Repeat("x\xff", 1<<20)
			return plan.CheckResult{Verdict: plan.Fail, Details: huge, Output: huge, Items: slices.Repeat([]string{huge}, 1000)}
		})
		Expect(r.run().Status).To(Equal(persist.StatusCapped))
		for _, line := range r.store.lines {
			Expect(len(line)).To(BeNumerically("<", 32<<10))
		}
	})
})

var _ = Describe("A round", Label("P-02"), func() {
	It("takes the most critical first, and checks all that failed again after each", func() {
		r := newRig(tasks("a"))
		for _, name := range []plan.Check{plan.CheckTodos, plan.CheckFeatures, plan.CheckTests, plan.CheckSoftLimit} {
			r.deps.Probes[name] = r.fixedBy("round-1." + string(name))
		}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(Equal([]string{"a#1", "round-1.tests#1", "round-1.features#1", "round-1.todos#1", "round-1.soft-limit#1"}))
		Expect(r.attrs(event.Verdict, "checks", "fail")).To(Equal([]any{4, 3, 2, 1, 0, 0}))
	})

	It("drops a task whose check passes before it is its turn", func() {
		r := newRig(tasks("a"))
		r.deps.Probes[plan.CheckCompile] = r.fixedBy("round-1.compile")
		r.deps.Probes[plan.CheckTests] = r.fixedBy("round-1.compile")
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(states(result)).To(Equal(map[string]string{"a": "done", "round-1.compile": "done", "round-1.tests": "dropped"}))
	})

	It("goes on although one of its tasks fails", func() {
		r := newRig(tasks("a"))
		r.deps.Probes[plan.CheckCompile] = probe(plan.Pass)
		r.deps.Probes[plan.CheckTests] = r.fixedBy("round-2.tests")
		r.deps.Probes[plan.CheckFeatures] = r.fixedBy("round-1.features")
		r.deeds["round-1.tests"] = []deed{grade(persist.Failed, "no idea")}
		r.deeds["round-2.round-1.tests"] = nil
		result := r.run()
		Expect(r.worked[:5]).To(Equal([]string{"a#1", "round-1.tests#1", "round-1.tests#2", "round-1.tests#3", "round-1.features#1"}))
		Expect(result.Counts.Rounds).To(BeNumerically(">", 1))
	})

	It("comes in the middle of a plan, once for the same failures, and does not cap it there", func() {
		r := newRig(many(12))
		r.deps.Probes[plan.CheckTests] = r.fixedBy("t0012")
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(result.Counts.Rounds).To(Equal(1))
		Expect(r.worked[5]).To(Equal("round-1.tests#1"))
		Expect(r.worked[6]).To(Equal("t0006#1"))
	})

	It("leaves rounds for the end, however many there were before", func() {
		p := many(40)
		p.Limits.Rounds = 2
		r := newRig(p)
		n := 0
		r.deps.Probes[plan.CheckTests] = persist.Probe(func(context.Context) plan.CheckResult {
			n++
			if slices.Contains(r.worked, "t0040#1") && strings.HasPrefix(r.worked[len(r.worked)-1], "round-") {
				return plan.CheckResult{Verdict: plan.Pass}
			}
			return plan.CheckResult{Verdict: plan.Fail, Items: []string{fmt.Sprint(n)}}
		})
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(result.Counts.Rounds).To(BeNumerically(">", 2))
	})

	It("does what the last answer announces", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["b"] = []deed{says("The form is in place.\n\nNext steps:\n1. Run the migration.\n2. Update the changelog.")}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(Equal([]string{"a#1", "b#1", "round-1.step-1#1", "round-1.step-2#1"}))
		Expect(result.Tasks[2].Do).To(ContainSubstring("Run the migration"))
		Expect(result.Tasks[3].Do).To(ContainSubstring("Update the changelog"))
		Expect(r.attrs(event.Verdict, "stop", "forced")).To(Equal([]any{false, true, false, false}))
	})

	It("makes no second task of an answer that never may stop", func() {
		r := newRig(tasks("a"))
		forever := says("Half of it is done.\n\nNext steps:\n1. Run the migration.")
		r.deeds["a"] = []deed{forever}
		r.deeds["round-1.step-1"] = []deed{forever}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusCapped))
		Expect(result.Guard).To(Equal("no_progress"))
		Expect(failing(result)).To(Equal([]plan.Check{plan.CheckStopGuard}))
	})
})

var _ = Describe("The signs of a premature stop", Label("P-03"), func() {
	DescribeTable("are emitted with their severity, and make the run continue",
		func(spoil func(*rig), sign, severity string) {
			r := newRig(tasks("a", "b<a"))
			spoil(r)
			Expect(r.run().Status).To(Equal(persist.StatusComplete))
			var forced []any
			for _, e := range r.emitted(event.Guard, "sign") {
				if e.Attrs["sign"] == sign {
					Expect(e.Attrs["severity"]).To(Equal(severity))
					Expect(e.Detail).NotTo(BeEmpty())
					forced = append(forced, e.Attrs["forced"])
				}
			}
			Expect(forced).To(ContainElement(true))
		},
		Entry("little time with tasks left", failsAtFirst, "short-run", "high"),
		Entry("todos not found done", failsAtFirst, "todos-unchecked", "critical"),
		Entry("tasks that wait", failsAtFirst, "pending-tasks", "high"),
		Entry("a check that fails", func(r *rig) { r.deps.Probes[plan.CheckTests] = r.fixedBy("round-1.tests") }, "iteration-incomplete", "high"),
		Entry("no validation", func(r *rig) {
			n := 0
			r.deps.Probes[plan.CheckTests] = r.fixedBy("round-1.tests")
			r.deps.Probes[plan.CheckValidation] = persist.Probe(func(context.Context) plan.CheckResult {
				if n++; n == 1 {
					return plan.CheckResult{Verdict: plan.Unknown}
				}
				return plan.CheckResult{Verdict: plan.Pass}
			})
		}, "validation-missing", "critical"),
		Entry("an answer that announces work", func(r *rig) {
			r.deeds["b"] = []deed{says("Half of it is done.\n\nNext steps:\n1. Run the migration.")}
		}, "stop-guard", "critical"),
	)

	It("are emitted when the set changes, and not in each pass", func() {
		r := newRig(many(50))
		r.run()
		Expect(r.attrs(event.Guard, "sign", "sign")).To(Equal([]any{"short-run", "todos-unchecked", "validation-missing", "pending-tasks"}))
	})

	It("know no short run after the time for it", func() {
		r := newRig(many(40))
		r.run()
		var ends []time.Duration
		for _, record := range r.store.records() {
			if record.Kind == "signs" && !slices.Contains(record.Signs, "short-run") {
				ends = append(ends, record.At)
			}
		}
		Expect(ends[0]).To(Equal(30 * time.Minute))
	})
})

// failsAtFirst has a task that fails for good until a round takes it up.
func failsAtFirst(r *rig) {
	no := grade(persist.Failed, "no")
	r.deeds["a"] = []deed{no, no, no, done}
}

type workerFunc func(context.Context, persist.Assignment) persist.Outcome

func (f workerFunc) Work(ctx context.Context, a persist.Assignment) persist.Outcome { return f(ctx, a) }
