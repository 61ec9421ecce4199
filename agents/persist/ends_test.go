package persist_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/unit"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
)

// counting is a worker's call of a backend, in the run's budget.
func counting(b *budget.Budget, tokens int, then deed) deed {
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
		Expect(r.told(event.End, "complete")).To(HaveLen(1))
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
		Expect(result.Details).To(And(ContainSubstring(`task "a" failed: the disk is full`), ContainSubstring("2 tasks behind that cannot be reached (b, c)")))
		Expect(states(result)).To(Equal(map[string]string{"a": "failed", "b": "waiting", "c": "waiting", "d": "done"}))
		Expect(r.worked).To(Equal([]string{"a#1", "a#2", "a#3", "d#1", "a#4"}), "two retries, and once more in a round")
		Expect(failing(result)).To(Equal([]check.Name{check.Todos, check.Problems, check.Pending, check.Dependencies}))
	})

	It("is blocked by a task that cannot be done, which is not tried again", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{grade(persist.Blocked, "there is no such server")}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusBlocked))
		Expect(result.Details).To(ContainSubstring("there is no such server"))
		Expect(failing(result)).To(Equal([]check.Name{check.Todos, check.Problems}))
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
		Expect(r.told(event.HandOver, "person")).To(ConsistOf(HaveField("Detail", ContainSubstring("which of the two databases?"))))
	})

	It("is escalated by a check that cannot be made, and is never green", func() {
		r := newRig(tasks("a"))
		r.deps.Probes[check.Tests] = probe(check.Unknown)
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
		Expect(result.Checks).To(HaveLen(len(check.All())), "all checks before any stop")
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
		r.deps.Probes[check.Tests] = check.ProbeFunc(func(context.Context) check.Result {
			cancel()
			return check.Result{Verdict: check.Fail}
		})
		result := r.runIn(ctx)
		Expect(result.Status).To(Equal(persist.StatusInterrupted))
		Expect(result.Checks).To(BeEmpty())
		r.deps.Probes[check.Tests] = probe(check.Pass)
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
		p.Limits.Timeout = unit.Duration(3*time.Minute + 30*time.Second)
		r := newRig(p)
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusBudget))
		Expect(result.ExitCode).To(Equal(7))
		Expect(result.Guard).To(Equal("timeout"))
		Expect(result.Counts.Done).To(Equal(3))
		Expect(r.clock.Elapsed()).To(Equal(3*time.Minute + 30*time.Second))

		r.plan.Limits.Timeout = unit.Duration(5 * time.Minute)
		result = r.again()
		Expect(result.Guard).To(Equal("timeout"))
		Expect(result.Duration).To(Equal(90*time.Second), "what is left of five minutes")
	})

	It("counts the time of an attempt that was killed, as far as a checkpoint tells of it", func() {
		p := tasks("a")
		p.Limits.Timeout = unit.Duration(time.Hour)
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
		caps := budget.Caps{Calls: 3}
		work := func() {
			b := budget.New(caps, nil, 0)
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

		caps = budget.Caps{Calls: 10, Tokens: 450}
		work()
		result = r.again()
		Expect(result.Guard).To(Equal("budget.tokens"))
		Expect(result.Counts.Done).To(Equal(5), "what is done is kept")
	})

	It("adds up the tokens that workers tell of, where there is no budget", func() {
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
		func(deeds map[string]deed, tests check.Verdict, want persist.Status) {
			r := newRig(tasks("a", "b"))
			for id, d := range deeds {
				r.deeds[id] = []deed{d}
			}
			r.deps.Probes[check.Tests] = probe(tests)
			Expect(r.run().Status).To(Equal(want))
		},
		Entry("escalated before blocked", map[string]deed{"a": grade(persist.Blocked, ""), "b": grade(persist.Escalated, "")}, check.Fail, persist.StatusEscalated),
		Entry("blocked before capped", map[string]deed{"a": grade(persist.Blocked, "")}, check.Fail, persist.StatusBlocked),
		Entry("blocked before unknown", map[string]deed{"a": grade(persist.Blocked, "")}, check.Unknown, persist.StatusBlocked),
		Entry("capped alone", nil, check.Fail, persist.StatusCapped),
		Entry("unknown alone", nil, check.Unknown, persist.StatusEscalated),
		Entry("nothing", nil, check.None, persist.StatusComplete),
	)
})

var _ = Describe("A run that cannot begin", func() {
	DescribeTable("says what is missing",
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
			r.plan.Checks = map[check.Name]plan.Probe{check.Tests: {Command: []string{"true"}, By: "tester"}}
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

	It("says that the journal is gone where its snapshot is there, and does nothing again", func() {
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
		Entry("a timeout", func(p *plan.Plan) { p.Tasks[1].Timeout = unit.Duration(time.Hour) }),
		Entry("a check", func(p *plan.Plan) { p.Checks = map[check.Name]plan.Probe{check.Tests: {None: "there are no tests"}} }),
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
			Expect(r.told(event.State, "resume")).To(HaveLen(1))
			again, _ := persist.Look(r.plan, r.store.reopen())
			Expect(again.Status).To(Equal(persist.StatusComplete))
			Expect(states(again)).To(Equal(states(result)))
		},
		Entry("blocked", func(r *rig) { r.deeds["a"] = []deed{grade(persist.Blocked, "no")} }, persist.StatusBlocked),
		Entry("failed", func(r *rig) { r.deeds["a"] = []deed{grade(persist.Failed, "no")} }, persist.StatusBlocked),
		Entry("escalated", func(r *rig) { r.deeds["a"] = []deed{grade(persist.Escalated, "no")} }, persist.StatusEscalated),
		Entry("unknown", func(r *rig) { r.deps.Probes[check.Tests] = probe(check.Unknown) }, persist.StatusEscalated),
		Entry("capped", func(r *rig) { r.deps.Probes[check.Tests] = probe(check.Fail) }, persist.StatusCapped),
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

var _ = Describe("What fails inside", func() {
	It("is a failed attempt where a worker panics", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{func(context.Context, *rig, persist.Assignment) persist.Outcome { panic("oh") }, done}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(r.told(event.Guard, "retry")).To(ConsistOf(HaveField("Detail", ContainSubstring("panic: oh"))))
	})

	It("is a failed attempt where a worker gives no grade", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{grade("", ""), done}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(r.told(event.Guard, "retry")).To(ConsistOf(HaveField("Detail", ContainSubstring(`the grade ""`))))
	})

	DescribeTable("leaves a check unknown",
		func(broken check.ProbeFunc) {
			r := newRig(tasks("a"))
			r.deps.Probes[check.Tests] = broken
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusEscalated))
			Expect(verdict(result, check.Tests)).To(Equal(check.Unknown))
		},
		Entry("where a probe panics", check.ProbeFunc(func(context.Context) check.Result { panic("oh") })),
		Entry("where it gives no verdict", check.ProbeFunc(func(context.Context) check.Result { return check.Result{} })),
	)

	It("leaves the stop guard's check unknown where the judge panics", func() {
		r := newRig(tasks("a"))
		r.deps.Judge = func(context.Context, string) stop.Verdict { panic("oh") }
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusEscalated))
		Expect(verdict(result, check.StopGuard)).To(Equal(check.Unknown))
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
		p.Checks = map[check.Name]plan.Probe{check.Tests: {Command: []string{"true"}}}
		result := newRig(p).run()
		Expect(result.Status).To(Equal(persist.StatusEscalated))
		Expect(verdict(result, check.Tests)).To(Equal(check.Unknown))
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

	It("while an outcome is written leaves a result that tells what is kept", func() {
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
			Expect(r.prompts[2]).To(ContainSubstring("- 1\n- 2\n"))
			Expect(r.prompts[2]).NotTo(ContainSubstring("- 3\n"))
			Expect(r.told(event.State, "context")).To(BeEmpty())
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

// failing are the checks that fail at the end.
func failing(result persist.Result) []check.Name {
	var names []check.Name
	for _, c := range result.Checks {
		if c.Verdict == check.Fail {
			names = append(names, c.Name)
		}
	}
	return names
}

func verdict(result persist.Result, name check.Name) check.Verdict {
	for _, c := range result.Checks {
		if c.Name == name {
			return c.Verdict
		}
	}
	return ""
}

// gone is a store whose journal is gone, and whose snapshot so stands for nothing.
type gone struct{ *tape }

func (gone) Load(func([]byte) error, func([]byte) error) (journal.Recovery, error) {
	return journal.Recovery{SnapshotLost: "it stands for 7 records, which are not those of this journal"}, nil
}
