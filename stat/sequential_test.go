package stat_test

import (
	"math"
	"math/rand/v2"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

// evenly returns n looks at equal steps.
func evenly(n int) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = float64(i+1) / float64(n)
	}
	return times
}

// bounds returns the normal quantiles of two-sided levels.
func bounds(levels []float64) []float64 {
	all := make([]float64, len(levels))
	for i, level := range levels {
		all[i] = -distuv.UnitNormal.Quantile(level / 2)
	}
	return all
}

func equalTo(want []float64, within float64) OmegaMatcher {
	matchers := make([]any, len(want))
	for i, w := range want {
		matchers[i] = BeNumerically("~", w, within)
	}
	return HaveExactElements(matchers...)
}

var _ = Describe("A plan of looks", func() {
	// Pocock's constants are in table 2.1 of Jennison and Turnbull (Group Sequential
	// Methods, 2000), those of O'Brien and Fleming in table 2.3; both for alpha 0.05.
	DescribeTable("has the crossing probabilities of published bounds",
		func(looks int, pocock, obrienFleming float64) {
			flat, falling := make([]float64, looks), make([]float64, looks)
			for i := range looks {
				flat[i] = pocock
				falling[i] = obrienFleming * math.Sqrt(float64(looks)/float64(i+1))
			}
			Expect(stat.Crossing(evenly(looks), flat, 0)).To(BeNumerically("~", 0.05, 1e-4))
			Expect(stat.Crossing(evenly(looks), falling, 0)).To(BeNumerically("~", 0.05, 1e-4))
		},
		Entry("2 looks", 2, 2.178, 1.977),
		Entry("3 looks", 3, 2.289, 2.004),
		Entry("4 looks", 4, 2.361, 2.024),
		Entry("5 looks", 5, 2.413, 2.040),
		Entry("10 looks", 10, 2.555, 2.087),
	)

	// Tables 2.2 and 2.4 of the book: how much more data five looks take at power 0.8.
	It("has the power of published designs", func() {
		fixed := 1.959964 + 0.841621
		flat, falling := make([]float64, 5), make([]float64, 5)
		for i := range 5 {
			flat[i], falling[i] = 2.413, 2.040*math.Sqrt(5/float64(i+1))
		}
		Expect(stat.Crossing(evenly(5), flat, fixed*math.Sqrt(1.229))).To(BeNumerically("~", 0.8, 5e-4))
		Expect(stat.Crossing(evenly(5), falling, fixed*math.Sqrt(1.028))).To(BeNumerically("~", 0.8, 5e-4))
	})

	It("has the published bounds of the spending functions", func() {
		// Five looks, alpha 0.05: as in the tables of Reboussin, DeMets, Kim and Lan
		// (Controlled Clinical Trials 21, 2000).
		obf := stat.NewSequential(stat.OBrienFleming, evenly(5))
		Expect(bounds(obf.Levels(0.05))).To(equalTo([]float64{4.8769, 3.3569, 2.6803, 2.2898, 2.0310}, 2e-4))
		pocock := stat.NewSequential(stat.Pocock, evenly(5))
		Expect(bounds(pocock.Levels(0.05))).To(equalTo([]float64{2.4380, 2.4268, 2.4101, 2.3966, 2.3859}, 2e-4))
		// Four looks at one-sided 0.05, as other programs print them.
		four := stat.NewSequential(stat.OBrienFleming, evenly(4))
		Expect(bounds(four.Levels(0.1))).To(equalTo([]float64{3.74955, 2.53993, 2.01604, 1.72014}, 2e-4))
		Expect(four.Spent(0.1, 0)).To(BeNumerically("~", 2*8.85754e-5, 1e-9))
		Expect(four.Spent(0.1, 1)).To(BeNumerically("~", 2*0.0055746, 1e-7))
	})

	It("spends exactly alpha for any looks", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			steps := rapid.SliceOfN(rapid.IntRange(1, 30), 1, 8).Draw(t, "steps")
			times, sum, at := make([]float64, len(steps)), 0, 0
			for _, s := range steps {
				sum += s
			}
			for i, s := range steps {
				at += s
				times[i] = float64(at) / float64(sum)
			}
			alpha := rapid.SampledFrom([]float64{0.001, 0.01, 0.05, 0.2}).Draw(t, "alpha")
			spending := rapid.SampledFrom([]stat.Spending{stat.OBrienFleming, stat.Pocock}).Draw(t, "spending")
			levels := stat.NewSequential(spending, times).Levels(alpha)
			Expect(stat.Crossing(times, bounds(levels), 0)).To(BeNumerically("~", alpha, 1e-6*alpha+1e-9))
		})
	})

	It("spends the rest of alpha if it ends early", func() {
		open := stat.NewSequential(stat.OBrienFleming, []float64{0.2, 0.5, 1})
		closed := stat.NewSequential(stat.OBrienFleming, []float64{0.2, 0.5})
		Expect(open.Spent(0.05, 1)).To(BeNumerically("<", 0.01))
		Expect(open.Last(1)).To(BeFalse())
		Expect(closed.Last(1)).To(BeTrue())
		Expect(closed.Spent(0.05, 1)).To(Equal(0.05))
		Expect(stat.NewSequential(stat.OBrienFleming, []float64{0.5}).Levels(0.05)).To(Equal([]float64{0.05}))
		Expect(closed.Levels(0.05)[0]).To(Equal(open.Levels(0.05)[0]))
		Expect(stat.Crossing([]float64{0.4, 1}, bounds(closed.Levels(0.05)), 0)).To(BeNumerically("~", 0.05, 1e-6))
	})

	It("is an ordinary test with a single look", func() {
		one := stat.NewSequential("none", []float64{1})
		Expect(one.Levels(0.05)).To(Equal([]float64{0.05}))
		Expect(one.Adjust(0, 0.0123)).To(Equal(0.0123))
		Expect(one.Power(0.05, 2.801585)).To(BeNumerically("~", 0.8, 1e-4))
		Expect(one.Share(0.05, 1)).To(BeNumerically("~", 1, 1e-12))
	})

	It("adjusts p-values so that they reject exactly at the levels of its looks", func() {
		plan := stat.NewSequential(stat.OBrienFleming, evenly(5))
		for _, alpha := range []float64{1e-4, 0.01, 0.05, 0.3} {
			for look, level := range plan.Levels(alpha) {
				if level > 1e-100 {
					Expect(plan.Adjust(look, level)).To(BeNumerically("~", alpha, 1e-3*alpha), "look %d", look)
				}
			}
		}
		Expect(plan.Adjust(4, 1)).To(Equal(1.0))
		Expect(plan.Adjust(0, 0)).To(BeNumerically("<=", 1e-7))
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			look := rapid.IntRange(0, 4).Draw(t, "look")
			p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
			a, b := plan.Adjust(look, min(p, q)), plan.Adjust(look, max(p, q))
			Expect(a).To(And(BeNumerically("<=", b), BeNumerically(">=", min(p, q)*0.999)))
		})
	})

	It("has the power and the mean share of simulated normal data", func() {
		plan := stat.NewSequential(stat.Pocock, evenly(4))
		limits, r := bounds(plan.Levels(0.05)), rand.New(rand.NewPCG(1, 2))
		const n, drift = 20_000, 2.5
		found, share := 0, 0.0
		for range n {
			sum, ended := 0.0, 1.0
			for k := range 4 {
				sum += r.NormFloat64()/2 + drift/4
				if z := sum / math.Sqrt(float64(k+1)/4); math.Abs(z) >= limits[k] {
					ended = float64(k+1) / 4
					if z > 0 {
						found++
					}
					break
				}
			}
			share += ended
		}
		Expect(plan.Power(0.05, drift)).To(BeNumerically("~", float64(found)/n, 0.015))
		Expect(plan.Share(0.05, drift)).To(BeNumerically("~", share/n, 0.01))
	})

	DescribeTable("rejects invalid shares", func(times ...float64) {
		Expect(func() { stat.NewSequential(stat.Pocock, times) }).To(PanicWith(ContainSubstring("stat: NewSequential: ")))
	}, Entry("none"), Entry("zero", 0.0), Entry("above 1", 1.1), Entry("descending", 0.5, 0.4), Entry("NaN", math.NaN()))
})

var _ = Describe("Planning pairs", func() {
	It("has published powers and numbers", func() {
		// Cohen's examples as R's package pwr prints them: 60 pairs, effect 0.2, level 0.1.
		Expect(stat.PairedPower(60, 0.2, 0.1)).To(BeNumerically("~", 0.4555818, 1e-6))
		// R's power.t.test has 33.37 pairs for an effect of half a deviation.
		Expect(stat.PairedNeeded(0.5, 0.05, 0.8)).To(Equal(34))
		Expect(stat.PairedPower(34, 0.5, 0.05)).To(BeNumerically(">=", 0.8))
		Expect(stat.PairedPower(33, 0.5, 0.05)).To(BeNumerically("<", 0.8))
	})

	It("agrees with the normal approximation for many pairs", func() {
		deviations := (1.959964 + 0.841621) / 0.01
		Expect(stat.PairedNeeded(0.01, 0.05, 0.8)).To(BeNumerically("~", deviations*deviations, 4))
	})

	It("handles effects that are absent, tiny or huge", func() {
		Expect(stat.PairedPower(1, 5, 0.05)).To(BeZero())
		Expect(stat.PairedPower(2, 0, 0.05)).To(BeNumerically("~", 0.05, 1e-6))
		Expect(stat.PairedNeeded(0, 0.05, 0.8)).To(BeZero())
		Expect(stat.PairedNeeded(1e-6, 0.05, 0.8)).To(BeZero())
		Expect(stat.PairedNeeded(1e6, 0.05, 0.8)).To(Equal(2))
		Expect(func() { stat.PairedPower(5, 1, 1) }).To(PanicWith(ContainSubstring("alpha must be between 0 and 1, got 1")))
	})

	It("has the power of simulated tests of shares", func() {
		r := rand.New(rand.NewPCG(3, 4))
		for _, c := range []struct{ p, q float64 }{{0.5, 0.8}, {0.9, 0.7}, {0.3, 0.4}} {
			deviation := math.Sqrt(c.p*(1-c.p) + c.q*(1-c.q))
			n, found := stat.ShareNeeded(c.q-c.p, deviation, 0.05, 0.8), 0
			const draws = 2000
			for range draws {
				pairs := make([]float64, n)
				for i := range pairs {
					pairs[i] = float64(coin(r, c.q) - coin(r, c.p))
				}
				if stat.Within([][]float64{pairs}, 1).P() <= 0.05 {
					found++
				}
			}
			Expect(float64(found)/draws).To(BeNumerically("~", 0.8, 0.04), "%d pairs for %v", n, c)
			Expect(n).To(BeNumerically(">=", stat.PairedNeeded((c.q-c.p)/deviation, 0.05, 0.8)))
		}
		Expect(stat.ShareNeeded(0, 1, 0.05, 0.8)).To(BeZero())
	})

	It("converts the drift of Student's test to that of a normal test", func() {
		one := stat.NewSequential("none", []float64{1})
		for _, n := range []int{4, 10, 50} {
			drift := stat.NormalDrift(0.8*math.Sqrt(float64(n)), float64(n-1), 0.05)
			Expect(one.Power(0.05, drift)).To(BeNumerically("~", stat.PairedPower(n, 0.8, 0.05), 2e-3))
		}
		Expect(stat.NormalDrift(2, math.Inf(1), 0.05)).To(Equal(2.0))
		Expect(stat.NormalDrift(0, 5, 0.05)).To(BeZero())
	})

	It("needs slightly more pairs with interim looks, as published", func() {
		Expect(stat.NewSequential(stat.OBrienFleming, evenly(5)).Inflation(0.05, 0.8)).To(BeNumerically("~", 1.025, 0.002))
		Expect(stat.NewSequential(stat.Pocock, evenly(5)).Inflation(0.05, 0.8)).To(BeNumerically("~", 1.213, 0.003))
		Expect(stat.NewSequential("none", []float64{1}).Inflation(0.05, 0.9)).To(BeNumerically("~", 1, 1e-6))
	})
})

func coin(r *rand.Rand, p float64) int {
	if r.Float64() < p {
		return 1
	}
	return 0
}
