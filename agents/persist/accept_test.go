package persist_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
)

// accepting returns a run of the tasks a and b<a in which the acceptance of a has these verdicts in turn.
func accepting(verdicts ...plan.Verdict) *rig {
	p := tasks("a", "b<a")
	p.Tasks[0].Accept = []plan.Acceptance{{Command: []string{"go", "test", "./..."}}}
	r := newRig(p)
	n := 0
	r.deps.Accept = map[string][]persist.Probe{"a": {func(context.Context) plan.CheckResult {
		v := verdicts[min(n, len(verdicts)-1)]
		n++
		return plan.CheckResult{Verdict: v, Details: "go test: " + string(v), Output: "cart_test.go:12: got 3"}
	}}}
	return r
}

var _ = Describe("A task with acceptance commands", func() {
	It("is done only after they pass, and the next attempt gets their output", func() {
		r := accepting(plan.Fail, plan.Pass)
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"a#1", "a#2", "b#1"}))
		Expect(r.prompts[0]).To(ContainSubstring("ends with exit status 0 afterwards:\n- go test ./...\n"))
		Expect(r.prompts[1]).To(And(ContainSubstring("not accepted: go test: fail"), ContainSubstring("> cart_test.go:12: got 3")))
		Expect(result.Tasks[0].Accepted).To(Equal(plan.Pass))
		Expect(result.Tasks[1].Accepted).To(BeEmpty())
		Expect(r.attrs(event.Verdict, "accept", "verdict")).To(Equal([]any{"fail", "pass"}))
		Expect(r.attrs(event.Iteration, "task", "grade")).To(Equal([]any{"failed", "done", "done"}))
	})

	It("fails after its retries, and its dependants wait", func() {
		r := accepting(plan.Fail)
		r.plan.Tasks[0].Retries = new(int)
		r.plan.Limits.Rounds = 1
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusBlocked))
		Expect(states(result)).To(Equal(map[string]string{"a": "failed", "b": "waiting"}))
		Expect(result.Details).To(ContainSubstring("not accepted: go test: fail"))
	})

	It("needs a person if it cannot be decided twice", func() {
		r := accepting(plan.Unknown)
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusEscalated))
		Expect(r.worked).To(Equal([]string{"a#1", "a#2"}))
		Expect(result.Tasks[0].Accepted).To(Equal(plan.Unknown))
	})

	It("is not done by a verdict that does not exist or a panic", func() {
		r := accepting("maybe", plan.Pass)
		Expect(r.run().Tasks[0].Attempts).To(Equal(2))
		r = accepting()
		r.deps.Accept["a"][0] = func(context.Context) plan.CheckResult { panic("oh") }
		Expect(r.run().Status).To(Equal(persist.StatusEscalated))
	})

	It("runs the commands in order, up to the first that does not pass", func() {
		r := accepting(plan.Fail, plan.Pass)
		ran := 0
		r.deps.Accept["a"] = append(r.deps.Accept["a"], func(context.Context) plan.CheckResult {
			ran++
			return plan.CheckResult{Verdict: plan.Pass}
		})
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(ran).To(Equal(1))
	})

	It("is an error of the run if the commands are not given", func() {
		r := accepting(plan.Pass)
		r.deps.Accept = nil
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusError))
		Expect(result.Details).To(ContainSubstring(`the acceptance commands of the task "a" are not given`))
	})

	It("is not worked on again after an interrupt while they run", func() {
		r := accepting(plan.Pass)
		quick := r.deps.Accept["a"][0]
		ctx, cancel := context.WithCancel(context.Background())
		r.deps.Accept["a"][0] = func(within context.Context) plan.CheckResult {
			cancel()
			return plan.CheckResult{Verdict: plan.Unknown, Details: "ended: " + clock.Err(within).Error()}
		}
		Expect(r.runIn(ctx).Status).To(Equal(persist.StatusInterrupted))
		r.deps.Accept["a"][0] = quick
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"a#1", "b#1"}))
	})

	It("has the same journal after a crash at any write", Label("P-05"), func() {
		undisturbed := accepting(plan.Fail, plan.Pass)
		Expect(undisturbed.run().Status).To(Equal(persist.StatusComplete))
		want := undisturbed.store.text()
		crash := errors.New("crashed")
		for n := 1; n < 40; n++ {
			r := accepting(plan.Pass)
			// A crash may repeat a command, so its result depends on the attempts.
			r.deps.Accept["a"][0] = func(context.Context) plan.CheckResult {
				v := plan.Pass
				if r.worked[len(r.worked)-1] == "a#1" {
					v = plan.Fail
				}
				return plan.CheckResult{Verdict: v, Details: "go test: " + string(v), Output: "cart_test.go:12: got 3"}
			}
			r.store.fail = func(i int, _ string) failure { return failure{err: map[bool]error{true: crash}[i == n], once: true} }
			result := r.run()
			for result.Status == persist.StatusError {
				result = r.again()
			}
			Expect(result.Status).To(Equal(persist.StatusComplete))
			Expect(r.store.text()).To(Equal(want), "write %d", n)
		}
	})

	It("does not count its commands as inactivity", func() {
		r := accepting(plan.Pass)
		slow := r.deps.Accept["a"][0]
		r.deps.Accept["a"][0] = func(ctx context.Context) plan.CheckResult {
			Expect(r.clock.Sleep(ctx, time.Hour)).To(Succeed())
			return slow(ctx)
		}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(HaveLen(2))
	})
})

var _ = Describe("The usage of a run", func() {
	used := func(n int, then deed) deed {
		return func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			out := then(ctx, r, a)
			out.Used = &persist.Used{Calls: n, Tokens: 10 * n, Cost: float64(n) / 4, Currency: "USD"}
			return out
		}
	}

	It("is added up for each task and for all, over restarts and the end that cuts an attempt off", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{used(1, grade(persist.Failed, "no")), used(2, done)}
		ctx, cancel := context.WithCancel(context.Background())
		r.deeds["b"] = []deed{used(4, func(context.Context, *rig, persist.Assignment) persist.Outcome {
			cancel()
			return persist.Outcome{Grade: persist.Failed}
		})}
		Expect(r.runIn(ctx).Status).To(Equal(persist.StatusInterrupted))
		r.deeds["b"] = []deed{used(8, done)}
		result := r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(result.Tasks[0].Used).To(Equal(persist.Used{Calls: 3, Tokens: 30, Cost: 0.75, Currency: "USD"}))
		Expect(result.Tasks[1].Used).To(Equal(persist.Used{Calls: 12, Tokens: 120, Cost: 3, Currency: "USD"}))
		Expect(result.Used).To(Equal(persist.Used{Calls: 15, Tokens: 150, Cost: 3.75, Currency: "USD"}))
		Expect(r.again().Used).To(Equal(result.Used), "as stored")
	})

	It("is unknown of an attempt in which a process was killed", func() {
		const killed = "a process was killed during an attempt"
		r := newRig(tasks("a", "b"))
		r.deeds["a"], r.deeds["b"] = []deed{used(1, done)}, []deed{used(1, done)}
		r.store.fail = func(int, string) failure { return failure{err: map[bool]error{true: errKilled}[len(r.worked) == 1]} }
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusError))
		Expect(result.Used).To(Equal(persist.Used{TokensUnknown: killed, CostUnknown: killed}))
		result = r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		once := persist.Used{Calls: 1, Tokens: 10, Cost: 0.25, Currency: "USD"}
		Expect(result.Tasks[1].Used).To(Equal(once))
		once.TokensUnknown, once.CostUnknown = killed, killed
		Expect(result.Tasks[0].Used).To(Equal(once))
		once.Calls, once.Tokens, once.Cost = 2, 20, 0.5
		Expect(result.Used).To(Equal(once))
		Expect(r.again().Used).To(Equal(once), "as stored")
	})

	It("is a lower bound from the first amount that is unknown", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{func(context.Context, *rig, persist.Assignment) persist.Outcome {
			return persist.Outcome{Grade: persist.Done, Used: &persist.Used{Calls: 1, CostUnknown: "no prices are given"}}
		}}
		r.deeds["b"] = []deed{used(1, done)}
		Expect(r.run().Used).To(Equal(persist.Used{Calls: 2, Tokens: 10, Cost: 0.25, Currency: "USD", CostUnknown: "no prices are given"}))
	})
})
