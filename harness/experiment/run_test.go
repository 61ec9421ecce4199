package experiment_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/experiment/result"
)

var _ = Describe("An experiment", Label("H-07"), func() {
	It("tells which variant is better, by how much, how surely and at what cost", func() {
		res := run(first)
		Expect(res.Stopped).To(Equal(result.Stopped{As: result.Complete, Why: "all trials were made", Trials: 240, Planned: 240}))
		good := comparison(res, "good", "old", "pass")
		Expect(good.Verdict).To(Equal(result.Better))
		Expect(*good.Effect.Value).To(BeNumerically("~", 0.25, 0.12))
		Expect(good.Effect.Interval.Lo).To(BeNumerically(">", 0))
		Expect(*good.Adjusted).To(And(BeNumerically(">=", *good.P), BeNumerically("<=", 0.05)))
		Expect(good.Pairs).To(Equal(80))
		Expect(good.ByScenario).To(HaveLen(2))
		Expect(good.Why).To(ContainSubstring("after correction for 3 comparisons"))
		Expect(comparison(res, "good", "old", "slow").Verdict).To(Equal(result.Better))
		Expect(comparison(res, "turned", "old", "pass").Verdict).To(Equal(result.Undecided))
		Expect(comparison(res, "turned", "old", "pass").Needed).To(BeNumerically(">", 40))
		Expect(comparison(res, "turned", "good", "pass").Verdict).To(Equal(result.Worse))
		Expect(res.Pareto).To(HaveLen(3))
		for _, p := range res.Pareto {
			Expect(p.Dominated == nil).To(Equal(p.Variant == "good"), "%+v", p)
		}
	})

	It("has the same result with any number of workers", func() {
		e := load(first)
		Expect(encoded(carry(e, workers(1)))).To(Equal(encoded(carry(e, workers(7)))))
	})

	It("pairs trials by scenario, number and seed: the same variant under another name never differs", func() {
		text := replace(first, "  - name: turned\n    set:\n", "  - name: turned\n    set:\n      drive.loop.prompt: Other words.\n")
		text = replace(text, `            - {chance: 0.5, text: "I look at it."}
            - {chance: 0.5, text: "It passes.\n\nDONE"}`, `            - {chance: 0.5, text: "It passes.\n\nDONE"}
            - {chance: 0.5, text: "I look at it."}`)
		c := comparison(run(text), "turned", "old", "pass")
		Expect(*c.Effect.Value).To(BeZero())
		Expect(c.Verdict).To(Equal(result.Equivalent))
	})

	It("holds all against one where the file says so", func() {
		res := run(first + "against: good\n")
		Expect(res.Comparisons).To(HaveLen(6))
		Expect(comparison(res, "old", "good", "pass").Verdict).To(Equal(result.Worse))
		Expect(comparison(res, "turned", "good", "pass").Verdict).To(Equal(result.Worse))
	})

	It("stops early, and only at a planned look", func() {
		res := run(replace(first, "  - name: turned\n    set:\n", "  - name: turned\n    set:\n      backend.retry: 1\n") + "against: good\nstop: {looks: 4}\n")
		Expect(res.Stopped.As).To(Equal(result.Decided))
		Expect(res.Stopped.Trials).To(BeNumerically("<", 240))
		last := res.Looks[len(res.Looks)-1]
		Expect(last.Decided).To(Equal(2))
		Expect(last.Trials % 10).To(BeZero())
		Expect(last.Level).To(BeNumerically("<", 0.05))
		Expect(res.Stopped.Trials).To(Equal(6 * last.Trials))
	})

	It("draws other trials for another seed", func() {
		five, six := run(first+"seed: 5\n"), run(first+"seed: 6\n")
		Expect(five.Comparisons).NotTo(Equal(six.Comparisons))
	})

	It("says nothing about the others where it knows only these", func() {
		Expect(run(first).Warnings).To(ContainElement(ContainSubstring("about these scenarios")))
	})
})

var _ = Describe("The caps of an experiment", Label("H-07"), func() {
	It("on calls are never passed, and what was found until then is told", func() {
		e := load(first + "caps: {calls: 101}\n")
		for _, n := range []int{1, 2, 7} {
			res := carry(e, workers(n))
			Expect(res.Stopped.As).To(Equal(result.Capped))
			Expect(res.Stopped.Why).To(Equal("the budget for calls is used up: 101 of 101"))
			Expect(res.Used.Calls).To(Equal(101))
			Expect(res.Stopped.Trials).To(BeNumerically("~", 70, 25))
			Expect(comparison(res, "good", "old", "pass").Pairs).To(BeNumerically(">", 15))
			Expect(encoded(res)).To(Equal(encoded(carry(e, workers(1)))))
		}
	})

	It("on cost end it before the call that comes after", func() {
		res := run(first + "caps: {cost: 0.001 EUR}\n")
		Expect(res.Stopped.As).To(Equal(result.Capped))
		Expect(res.Used.EUR).To(And(BeNumerically(">=", 0.001), BeNumerically("<", 0.00105)))
		Expect(res.Stopped.Why).To(HavePrefix("the budget for cost is used up: "))
	})

	It("can be given for a run", func() {
		res := run(first, func(o *experiment.Options) { o.Caps.Calls = 50 })
		Expect(res.Used.Calls).To(Equal(50))
		Expect(res.Design.MaxCalls).To(Equal(50))
	})

	It("below one trial are an error", func() {
		path := write(first)
		one := filepath.Join(filepath.Dir(path), "one.yaml")
		Expect(os.WriteFile(one, []byte(strings.NewReplacer("NAME", "one", "SEED", "1", "chance: 0.5, text: \"It", "chance: 0, text: \"It", "chance: 0.5", "chance: 1").Replace(task)), 0o600)).To(Succeed())
		Expect(os.WriteFile(path, []byte(replace(first, "  - name: good\n", "  - name: same\n    set: {backend.retry: 1}\n  - name: good\n")), 0o600)).To(Succeed())
		e, found := experiment.Load(path, options())
		Expect(found).To(BeEmpty())
		_, err := e.Run(context.Background(), with(func(o *experiment.Options) { o.Caps.Calls = 1 }))
		Expect(err).To(MatchError("the caps of the experiment do not allow one trial: the budget for calls is used up: 1 of 1; raise them"))
	})

	It("on cost are used up by a model without a price", func() {
		text := replace(first, "trials: 40", "trials: 4")
		text = strings.ReplaceAll(text, "    set:\n", "    set:\n      backend.unpriced: true\n      backend.model: none\n")
		text = replace(text, "  - name: old\n", "  - name: old\n    set:\n      backend.unpriced: true\n      backend.model: none\n")
		res := run(text + "caps: {cost: 1 EUR}\n")
		Expect(res.Stopped.As).To(Equal(result.Capped))
		Expect(res.Stopped.Why).To(ContainSubstring("unknown"))
	})
})
