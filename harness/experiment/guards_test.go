package experiment_test

import (
	"math"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/stat"
)

// passes returns trials of which the first passed and the last are unknown.
func passes(passed, failed, unknown int) []float64 {
	var all []float64
	for i := range passed + failed + unknown {
		switch {
		case i < passed:
			all = append(all, 1)
		case i < passed+failed:
			all = append(all, 0)
		default:
			all = append(all, math.NaN())
		}
	}
	return all
}

// inOne returns the values of variants in one scenario.
func inOne(variants ...[]float64) [][][]float64 {
	all := make([][][]float64, len(variants))
	for v := range variants {
		all[v] = [][]float64{variants[v]}
	}
	return all
}

var _ = Describe("A comparison", Label("H-07"), func() {
	share := designOf(true, 100, 0.1, result.These)

	It("is tested if at most one pair in ten is missing", func() {
		c := experiment.Compared(share, inOne(passes(50, 50, 0), passes(90, 0, 10)))[0]
		Expect(c.P).NotTo(BeNil())
		c = experiment.Compared(share, inOne(passes(50, 50, 0), passes(89, 0, 11)))[0]
		Expect(c.P).To(BeNil())
		Expect(c.EquivalenceP).To(BeNil())
		Expect(c.NotWorseP).To(BeNil())
		Expect(c.Verdict).To(Equal(result.Undecided))
		Expect(c.Needed).To(BeZero())
	})

	It("that could not be tested still counts for the correction", func() {
		all := experiment.Compared(share, inOne(passes(60, 40, 0), passes(80, 20, 0), passes(50, 0, 50)))
		Expect(all).To(HaveLen(3))
		tested := all[0]
		Expect(tested.P).NotTo(BeNil())
		Expect(all[1].P).To(BeNil())
		Expect(all[2].P).To(BeNil())
		Expect(*tested.Adjusted).To(BeNumerically("~", 3**tested.P, 1e-12))
		Expect(*tested.EquivalenceAdjusted).To(BeNumerically("~", min(1, 3**tested.EquivalenceP), 1e-12))
	})

	It("has the larger p-value of its two one-sided tests of equivalence", func() {
		c := experiment.Compared(share, inOne(passes(100, 0, 0), passes(98, 2, 0)))[0]
		diff := append(make([]float64, 98), -1, -1)
		Expect(*c.EquivalenceP).To(BeNumerically("~", stat.Within([][]float64{diff}, 1).EquivalenceP(0.1, 1), 1e-12))
		Expect(*c.NotWorseP).To(BeNumerically("~", stat.Within([][]float64{diff}, 1).AboveP(-0.1, 1), 1e-12))
	})

	It("shows each variant's own share with Wilson's interval", func() {
		c := experiment.Compared(designOf(true, 20, 0.1, result.These), inOne(passes(6, 14, 0), passes(20, 0, 0)))[0]
		Expect(*c.Before.Interval).To(Equal(*stat.Proportion(6, 20, stat.Level).Interval))
		Expect(*c.After.Interval).To(Equal(*stat.Proportion(20, 20, stat.Level).Interval))
	})

	It("has no rounding error if both variants have the same values", func() {
		calls := func(first int) []float64 { // 263 calls in 200 trials
			var all []float64
			for i := range 200 {
				all = append(all, 1+float64(one(i >= first && i < first+63)))
			}
			return all
		}
		c := experiment.Compared(designOf(false, 200, 0, result.These), inOne(calls(0), calls(99)))[0]
		Expect(*c.Before.Value).To(Equal(1.315))
		Expect(*c.After.Value).To(Equal(1.315))
		Expect(*c.Effect.Value).To(BeZero())
	})
})

var _ = Describe("Not worse", Label("H-07"), func() {
	compared := func(d result.Design, variants ...[]float64) *result.Comparison {
		return &experiment.Compared(d, inOne(variants...))[0]
	}
	of := func(trials int) result.Design { return designOf(true, trials, 0.1, result.These) }

	It("is not shown by few trials, and the needed number is reported", func() {
		for _, n := range []int{1, 3, 5} {
			c := compared(of(n), passes(n, 0, 0), passes(0, n, 0))
			Expect(c.NotWorse(0.05)).To(BeFalse())
			Expect(c.NeededNotWorse).To(BeZero(), "it is worse if the results stay alike")
			Expect(c.Needed).To(Equal(6))
			c = compared(of(n), passes(n, 0, 0), passes(n, 0, 0))
			Expect(c.NotWorse(0.05)).To(BeFalse())
			Expect(c.NeededNotWorse).To(Equal(29), "0.9^29 is 0.047")
		}
		Expect(compared(of(6), passes(6, 0, 0), passes(0, 6, 0)).Verdict).To(Equal(result.Worse))
		Expect(compared(of(29), passes(29, 0, 0), passes(29, 0, 0)).NotWorse(0.05)).To(BeTrue())
		Expect(compared(of(28), passes(28, 0, 0), passes(28, 0, 0)).NotWorse(0.05)).To(BeFalse())
	})

	It("is shown for a variant that may be better, even if that is undecided", func() {
		turned := append(append(passes(45, 5, 0), passes(14, 0, 0)...), passes(0, 36, 0)...)
		c := compared(of(100), passes(50, 50, 0), turned)
		Expect(c.Verdict).To(Equal(result.Undecided))
		Expect(c.NotWorse(0.05)).To(BeTrue())
		Expect(*c.EquivalenceAdjusted).To(BeNumerically(">", 0.05))
		// In the other direction it is not.
		Expect(compared(of(100), turned, passes(50, 50, 0)).NotWorse(0.05)).To(BeFalse())
	})

	It("depends on the direction of the measure", func() {
		d := ranged(designOf(false, 60, 1, result.These), 0, 12)
		low, high := make([]float64, 60), make([]float64, 60)
		for i := range low {
			low[i], high[i] = 3+float64(i%3), 3+float64((i/3)%3)+2*float64(one(i%2 == 0))
		}
		Expect(compared(d, low, high).NotWorse(0.05)).To(BeTrue(), "higher is better")
		d.Primary.Better = result.Lower
		Expect(compared(d, low, high).NotWorse(0.05)).To(BeFalse())
		Expect(compared(d, high, low).NotWorse(0.05)).To(BeTrue())
	})

	It("is not shown for a variant with more missing values, if they are unbounded", func() {
		d := ranged(designOf(false, 60, 1, result.These), 0, 12)
		all, some := make([]float64, 60), make([]float64, 60)
		for i := range all {
			all[i], some[i] = 3, 3
		}
		some[59] = math.NaN()
		Expect(compared(d, all, all).NotWorse(0.05)).To(BeTrue())
		Expect(compared(d, all, some).NotWorse(0.05)).To(BeFalse())
		Expect(compared(d, some, all).NotWorse(0.05)).To(BeTrue())
	})
})

var _ = Describe("A trial without a verdict", Label("H-07"), func() {
	It("has no value: it is missing, not failed", func() {
		Expect(experiment.ValuesOf(harness.Judged{Verdict: gate.Error})).To(BeEmpty())
		Expect(experiment.ValuesOf(harness.Judged{Verdict: gate.Skip})).To(BeEmpty())
		Expect(experiment.ValuesOf(harness.Judged{Verdict: gate.Fail})).To(HaveKeyWithValue("pass", 0.0))
	})
})

var _ = Describe("A call that a cap refuses", Label("H-07"), func() {
	It("ends its trial", func() {
		b := llm.NewBudget(llm.Caps{Calls: 1}, nil, 0)
		refused, ended := experiment.Reserve(b)
		Expect(refused).NotTo(HaveOccurred())
		Expect(ended).NotTo(HaveOccurred())
		refused, ended = experiment.Reserve(b)
		Expect(refused).To(HaveOccurred())
		Expect(ended).To(Equal(refused))
	})
})

var _ = Describe("A cap", Label("H-07"), func() {
	It("excludes a scenario in which some variants have no trial, in any order", func() {
		for seed := range 6 {
			path := write(replace(first, "[one.yaml, two.yaml]", "[one.yaml]") + "seed: " + string(rune('1'+seed)) + "\n")
			edit(filepath.Join(filepath.Dir(path), "one.yaml"), "max_iterations: 2", "max_iterations: 1")
			res := carry(loadFile(path), workers(1), func(o *experiment.Options) { o.Caps.Calls = 2 })
			Expect(res.Stopped.As).To(Equal(result.Capped))
			Expect(res.Stopped.Trials).To(Equal(2), "of three variants")
			Expect(res.Looks).To(BeEmpty())
		}
	})

	It("spends the rest of alpha at its analysis", func() {
		res := run(replace(first, "trials: 40", "trials: 40\nstop: {looks: 4}"), workers(1), func(o *experiment.Options) { o.Caps.Calls = 150 })
		Expect(res.Stopped.As).To(Equal(result.Capped))
		last := res.Looks[len(res.Looks)-1]
		Expect(len(res.Looks)).To(BeNumerically("<", 4))
		Expect(last.Spent).To(Equal(0.05))
		Expect(last.Level).To(BeNumerically(">", 0.03))
	})
})

var _ = Describe("The range of a measure", Label("H-07"), func() {
	DescribeTable("is rejected if it is invalid:",
		func(measure, want string) {
			Expect(strings.Join(refused(replace(first, "{name: calls, smallest_effect: 0.5}", measure)), "\n")).To(ContainSubstring(want))
		},
		Entry("backwards", "{name: calls, range: [5, 0]}", "is not a range; write the least and the greatest value"),
		Entry("empty", "{name: calls, range: [5, 5]}", "is not a range"),
		Entry("one number", "{name: calls, range: [5]}", "range"),
		Entry("too wide for a number", "{name: calls, range: [-1.7e308, 1.7e308]}", "is not a range"),
		Entry("of a share", `{name: quick, expr: "run.iterations > 1", better: lower, range: [0, 1]}`, "needs no range; remove it"),
		Entry("no wider than the smallest effect", "{name: calls, range: [0, 1], smallest_effect: 1}", "is smaller than the smallest_effect"),
	)

	It("is in the result", func() {
		res := run(replace(first, "{name: calls, smallest_effect: 0.5}", "{name: calls, smallest_effect: 0.5, range: [0, 4]}"))
		Expect(res.Design.Secondary[0].Range).To(Equal([]float64{0, 4}))
	})
})
