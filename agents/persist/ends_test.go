package persist_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// counting returns a worker's call of a backend, in the run's budget.
func counting(b *llm.Budget, tokens int, then deed) deed {
	return func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
		if err := b.Reserve(); err != nil {
			return persist.Outcome{Grade: persist.Failed, Capped: "calls", Details: err.Error()}
		}
		b.Add("model", &llm.Usage{Input: tokens}, nil)
		return then(ctx, r, a)
	}
}

var _ = Describe("The end of a run", Label("P-08"), func() {
	It("is complete only when every task is done and no check fails", func() {
		r := newRig(tasks("a", "b<a", "c"))
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(result.ExitCode).To(BeZero())
		Expect(r.worked).To(Equal([]string{"a#1", "b#1", "c#1"}))
		Expect(states(result)).To(Equal(map[string]string{"a": "done", "b": "done", "c": "done"}))
		Expect(result.Details).To(ContainSubstring("not checked: compile, tests, features, validation"))
		Expect(r.clock.Elapsed()).To(Equal(3 * time.Minute))
		Expect(r.emitted(event.End, "complete")).To(HaveLen(1))
		Expect(result.Counts).To(Equal(persist.Counts{Done: 3, Attempts: 3, Checks: 1, Checkpoints: 1, Segments: 1}))
	})

	It("does each task once and in order, however many there are", func() {
		// Document 001's own loop spins for ever on one task and leaves two of seven undone.
		for n := 1; n <= 23; n++ {
			r := newRig(many(n))
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusComplete), "%d tasks: %s", n, result.Details)
			Expect(r.worked).To(HaveLen(n))
			Expect(result.Counts.Done).To(Equal(n))
			Expect(result.Counts.Checks).To(Equal((n-1)/5+1), "%d tasks: a check every 5, and one at the end", n)
		}
	})

	It("is blocked by a task whose dependency failed for good, with the evidence", func() {
		r := newRig(tasks("a", "b<a", "c<b", "d"))
		r.deeds["a"] = []deed{grade(persist.Failed, "the disk is full")}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusBlocked))
		Expect(result.ExitCode).To(Equal(6))
		Expect(result.Details).To(And(ContainSubstring(`task "a" failed: the disk is full`), ContainSubstring("2 tasks with such a dependency (b, c)")))
		Expect(states(result)).To(Equal(map[string]string{"a": "failed", "b": "waiting", "c": "waiting", "d": "done"}))
		Expect(r.worked).To(Equal([]string{"a#1", "a#2", "a#3", "d#1", "a#4"}), "two retries, and once more in a round")
		Expect(failing(result)).To(Equal([]plan.Check{plan.CheckTodos, plan.CheckProblems, plan.CheckPending, plan.CheckDependencies}))
	})

	It("is blocked by a task that cannot be done, which is not tried again", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{grade(persist.Blocked, "there is no such server")}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusBlocked))
		Expect(result.Details).To(ContainSubstring("there is no such server"))
		Expect(failing(result)).To(Equal([]plan.Check{plan.CheckTodos, plan.CheckProblems}))
		Expect(r.worked).To(Equal([]string{"a#1", "b#1"}))
	})

	It("is complete if a round mends what failed", func() {
		r := newRig(tasks("a", "b<a"))
		no := grade(persist.Failed, "no")
		r.deeds["a"] = []deed{no, no, no, done}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(Equal([]string{"a#1", "a#2", "a#3", "a#4", "b#1"}))
		Expect(result.Counts.Rounds).To(Equal(1))
		Expect(result.Counts.Retries).To(Equal(2))
	})

	It("is escalated by a task that needs a person, after the others", func() {
		r := newRig(tasks("a", "b", "c<a"))
		r.deeds["a"] = []deed{grade(persist.Escalated, "which of the two databases?")}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusEscalated))
		Expect(result.ExitCode).To(Equal(9))
		Expect(states(result)).To(Equal(map[string]string{"a": "escalated", "b": "done", "c": "waiting"}))
		Expect(r.emitted(event.HandOver, "person")).To(ConsistOf(HaveField("Detail", ContainSubstring("which of the two databases?"))))
	})

	It("is escalated by a check that cannot be made, and is never green", func() {
		r := newRig(tasks("a"))
		r.deps.Probes[plan.CheckTests] = probe(plan.Unknown)
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusEscalated))
		Expect(result.Details).To(ContainSubstring("tests (found at look 1) could not be checked"))
		Expect(result.Counts.Rounds).To(BeZero())
		Expect(result.Counts.Checks).To(Equal(1), "it does not make the run endless")
	})

	It("is capped when the segments are used up", Label("P-07"), func() {
		p := tasks("a", "b")
		p.Limits.HardCalls, p.Limits.SoftCalls, p.Limits.Segments = 10, 8, 3
		r := newRig(p)
		r.deeds["a"] = []deed{spends(11)}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusCapped))
		Expect(result.Guard).To(Equal("segments"))
		Expect(r.worked).To(Equal([]string{"a#1", "a#2", "a#3"}))
		Expect(result.Checks).To(HaveLen(len(plan.Checks())), "all checks before any stop")
	})

	It("is interrupted by the user, who finds all of it kept", func() {
		r := newRig(tasks("a", "b", "c"))
		ctx, cancel := context.WithCancelCause(context.Background())
		r.deeds["b"] = []deed{takes(time.Minute, func(_ context.Context, r *rig, _ persist.Assignment) persist.Outcome {
			cancel(errors.New("Ctrl-C"))
			return persist.Outcome{Grade: persist.Failed, Details: "cut off"}
		})}
		result := r.runIn(ctx)
		Expect(result.Status).To(Equal(persist.StatusInterrupted))
		Expect(result.ExitCode).To(Equal(130))
		Expect(result.Details).To(ContainSubstring("Ctrl-C"))
		Expect(states(result)).To(Equal(map[string]string{"a": "done", "b": "waiting", "c": "waiting"}))

		r.deeds["b"] = nil
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"a#1", "b#1", "b#1", "c#1"}), "the same attempt, with its key")
	})

	It("takes no verdict of a check that the interrupt cut off", func() {
		r := newRig(tasks("a"))
		ctx, cancel := context.WithCancel(context.Background())
		r.deps.Probes[plan.CheckTests] = persist.Probe(func(context.Context) plan.CheckResult {
			cancel()
			return plan.CheckResult{Verdict: plan.Fail}
		})
		result := r.runIn(ctx)
		Expect(result.Status).To(Equal(persist.StatusInterrupted))
		Expect(result.Checks).To(BeEmpty())
		r.deps.Probes[plan.CheckTests] = probe(plan.Pass)
		result = r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(result.Counts.Rounds).To(BeZero())
	})

	It("keeps what is done although the interrupt came first", func() {
		r := newRig(tasks("a", "b"))
		ctx, cancel := context.WithCancel(context.Background())
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			cancel()
			return done(ctx, r, a)
		}}
		Expect(states(r.runIn(ctx))).To(Equal(map[string]string{"a": "done", "b": "waiting"}))
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"a#1", "b#1"}))
	})

	It("comes with the time of the whole run, over its processes", func() {
		p := many(10)
		p.Limits.Timeout = quantity.Duration(3*time.Minute + 30*time.Second)
		r := newRig(p)
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusBudget))
		Expect(result.ExitCode).To(Equal(7))
		Expect(result.Guard).To(Equal("timeout"))
		Expect(result.Counts.Done).To(Equal(3))
		Expect(r.clock.Elapsed()).To(Equal(3*time.Minute + 30*time.Second))

		r.plan.Limits.Timeout = quantity.Duration(5 * time.Minute)
		result = r.again()
		Expect(result.Guard).To(Equal("timeout"))
		Expect(result.Duration).To(Equal(90*time.Second), "what is left of five minutes")
	})

	It("counts the time of a killed attempt up to the last checkpoint", func() {
		p := tasks("a")
		p.Limits.Timeout = quantity.Duration(time.Hour)
		r := newRig(p)
		r.deeds["a"] = []deed{works(50 * time.Minute)}
		r.store.fail = func(n int, _ string) failure { return failure{err: map[bool]error{true: errKilled}[n == 2+7]} }
		Expect(r.run().Status).To(Equal(persist.StatusError))
		Expect(r.clock.Elapsed()).To(Equal(35*time.Minute), "killed at the checkpoint after that of 30 minutes")
		result := r.again()
		Expect(result.Guard).To(Equal("timeout"))
		Expect(result.Duration).To(Equal(30 * time.Minute))
		result = r.again()
		Expect(result.Guard).To(Equal("timeout"))
		Expect(result.Duration).To(BeZero())
	})

	It("comes at the caller's deadline", func() {
		r := newRig(many(10))
		ctx, cancel := r.clock.WithTimeout(context.Background(), 90*time.Second)
		defer cancel()
		result := r.runIn(ctx)
		Expect(result.Status).To(Equal(persist.StatusBudget))
		Expect(result.Guard).To(BeEmpty())
		Expect(result.Counts.Done).To(Equal(1))
	})

	It("comes with a cap of the budget, and what was spent survives a restart", func() {
		r := newRig(many(5))
		caps := llm.Caps{Calls: 3}
		work := func() {
			b := llm.NewBudget(caps, nil, 0)
			r.deps.Budget = b
			for _, t := range r.plan.Tasks {
				r.deeds[t.ID] = []deed{counting(b, 100, done)}
			}
		}
		work()
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusBudget))
		Expect(result.Guard).To(Equal("budget.calls"))
		Expect(result.Counts.Done).To(Equal(3))

		caps.Calls = 4
		work()
		result = r.again()
		Expect(result.Guard).To(Equal("budget.calls"))
		Expect(result.Counts.Done).To(Equal(4), "one more call, not four")

		caps = llm.Caps{Calls: 10, Tokens: 450}
		work()
		result = r.again()
		Expect(result.Guard).To(Equal("budget.tokens"))
		Expect(result.Counts.Done).To(Equal(5), "what is done is kept")
	})

	It("sums the tokens that workers report, without a budget", func() {
		r := newRig(tasks("a", "b", "c"))
		for id, usage := range map[string]*llm.Usage{"a": {Input: 5, Output: 2}, "b": nil, "c": {Input: 1}} {
			r.deeds[id] = []deed{func(context.Context, *rig, persist.Assignment) persist.Outcome {
				return persist.Outcome{Grade: persist.Done, Usage: usage}
			}}
		}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		var tokens []int
		for _, record := range r.store.of(state.KindOutcome) {
			tokens = append(tokens, record.Outcome.Spent.Tokens)
		}
		Expect(tokens).To(Equal([]int{7, 7, 8}))
	})

	DescribeTable("names the first of several reasons",
		func(deeds map[string]deed, tests plan.Verdict, want persist.Status) {
			p := tasks("a", "b")
			p.Limits.HardCalls, p.Limits.SoftCalls, p.Limits.Segments = 10, 8, 2
			r := newRig(p)
			for id, d := range deeds {
				r.deeds[id] = []deed{d}
			}
			r.deps.Probes[plan.CheckTests] = probe(tests)
			Expect(r.run().Status).To(Equal(want))
		},
		Entry("escalated before blocked", map[string]deed{"a": grade(persist.Blocked, ""), "b": grade(persist.Escalated, "")}, plan.Fail, persist.StatusEscalated),
		Entry("escalated before failed for good", map[string]deed{"a": grade(persist.Failed, ""), "b": grade(persist.Escalated, "")}, plan.Pass, persist.StatusEscalated),
		Entry("blocked before capped", map[string]deed{"a": grade(persist.Blocked, "")}, plan.Fail, persist.StatusBlocked),
		Entry("blocked before unknown", map[string]deed{"a": grade(persist.Blocked, "")}, plan.Unknown, persist.StatusBlocked),
		Entry("blocked before used up segments", map[string]deed{"a": grade(persist.Blocked, ""), "b": spends(11)}, plan.Pass, persist.StatusBlocked),
		Entry("used up segments alone", map[string]deed{"b": spends(11)}, plan.Pass, persist.StatusCapped),
		Entry("escalated before used up segments", map[string]deed{"a": grade(persist.Escalated, ""), "b": spends(11)}, plan.Pass, persist.StatusEscalated),
		Entry("capped alone", nil, plan.Fail, persist.StatusCapped),
		Entry("unknown alone", nil, plan.Unknown, persist.StatusEscalated),
		Entry("nothing", nil, plan.None, persist.StatusComplete),
	)
})

// failing returns the checks that fail at the end.
func failing(result persist.Result) []plan.Check {
	var names []plan.Check
	for _, c := range result.Checks {
		if c.Verdict == plan.Fail {
			names = append(names, c.Name)
		}
	}
	return names
}

func verdict(result persist.Result, name plan.Check) plan.Verdict {
	for _, c := range result.Checks {
		if c.Name == name {
			return c.Verdict
		}
	}
	return ""
}
