package experiment_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/result"
)

// rareInNoise draws values with normal noise around 1. The second variant adds more in a
// share of its trials, so the difference of the means is share * more.
func rareInNoise(deviation, share, more float64) func(*rand.Rand) func(v, s int) float64 {
	return func(r *rand.Rand) func(v, s int) float64 {
		return func(v, _ int) float64 {
			value := 1 + deviation*r.NormFloat64()
			if v == 1 && r.Float64() < share {
				value += more
			}
			return value
		}
	}
}

// spread draws log-normal values with a deviation of their logarithm for each variant. Rare
// large values raise the mean of the wider one.
func spread(greatest float64, deviations ...float64) func(*rand.Rand) func(v, s int) float64 {
	return func(r *rand.Rand) func(v, s int) float64 {
		return func(v, _ int) float64 { return min(greatest, math.Exp(deviations[v]*r.NormFloat64())) }
	}
}

// rareWorlds are worlds in which the second variant differs by the smallest effect, through
// rare values.
func rareWorlds() []truth {
	design := func(trials int, smallest, greatest float64) result.Design {
		d := designOf(false, trials, smallest, result.These)
		if greatest > 0 {
			d = ranged(d, -1, greatest)
		}
		return d
	}
	// Means of log-normal values with deviations 1 and 1.2, and with 2 and 2.1.
	narrow, wide := math.Exp(0.72)-math.Exp(0.5), math.Exp(2.205)-math.Exp(2)
	const hundred, forty = 103, 43
	return []truth{
		{"noise and 100 in 2 of 100 trials, no range", twoOf(design(100, 2, 0), 1, rareInNoise(0.1, 0.02, 100)), 2},
		{"noise and 100 in 2 of 100 trials, 100 trials", twoOf(design(100, 2, hundred), 1, rareInNoise(0.1, 0.02, 100)), 2},
		{"noise and 100 in 2 of 100 trials, 160 trials", twoOf(design(160, 2, hundred), 1, rareInNoise(0.1, 0.02, 100)), 2},
		{"noise and 100 in 2 of 100 trials, 250 trials", twoOf(design(250, 2, hundred), 1, rareInNoise(0.1, 0.02, 100)), 2},
		{"noise and 100 in 2 of 100 trials, 4 scenarios, 60 trials", twoOf(design(60, 2, hundred), 4, rareInNoise(0.1, 0.02, 100)), 2},
		{"noise and 40 in 5 of 100 trials, 60 trials", twoOf(design(60, 2, forty), 1, rareInNoise(0.1, 0.05, 40)), 2},
		{"noise and 40 in 5 of 100 trials, 100 trials", twoOf(design(100, 2, forty), 1, rareInNoise(0.1, 0.05, 40)), 2},
		{"noise and 40 in 5 of 100 trials, wider range, 200 trials", twoOf(design(200, 2, 2*forty), 1, rareInNoise(0.1, 0.05, 40)), 2},
		{"log-normal, a wider one, 300 trials", twoOf(design(300, narrow, 60), 1, spread(60, 1, 1.2)), narrow},
		{"log-normal, a wider one, 2000 trials", twoOf(design(2000, narrow, 200), 1, spread(200, 1, 1.2)), narrow},
		{"log-normal, a much wider one, 1000 trials", twoOf(design(1000, wide, 400), 1, spread(400, 2, 2.1)), wide},
	}
}

// alikeWorlds are worlds without a difference, by the width of the range and the deviation
// of a difference, both as multiples of the smallest effect.
func alikeWorlds() []truth {
	var all []truth
	for _, w := range []struct {
		wide, deviation float64
		trials          int
	}{{10, 0.5, 20}, {10, 0.5, 30}, {10, 0.5, 40}, {10, 1, 40}, {30, 0.5, 100}, {30, 1, 100}, {100, 0.5, 300}, {100, 1, 350}} {
		d := ranged(designOf(false, w.trials, 1, result.These), -w.wide/2, w.wide/2)
		each := min(w.deviation/math.Sqrt2, w.wide/14)
		all = append(all, truth{
			fmt.Sprintf("range %g, deviation %g, %d trials", w.wide, w.deviation, w.trials),
			twoOf(d, 1, noisy(func(r *rand.Rand) float64 { return each * r.NormFloat64() }, 0, 0)), 0,
		})
	}
	return all
}

// BenchmarkEquivalence measures by simulation how often variants without a difference are
// found equivalent by measures with a declared range.
func BenchmarkEquivalence(b *testing.B) {
	for _, t := range alikeWorlds() {
		b.Run(title(t.name), func(b *testing.B) {
			r := rand.New(rand.NewPCG(2026, 15))
			found, n := 0, 0
			once := func() {
				n++
				verdicts, _ := t.world.Run(r)
				found += one(verdicts[0] == result.Equivalent)
			}
			for b.Loop() {
				once()
			}
			for n < enough() {
				once()
			}
			b.ReportMetric(float64(found)/float64(n), "equivalent")
		})
	}
}

var _ = Describe("Equivalence", Label("H-07"), func() {
	It("of a measure other than a share is found in normal noise, at the last look only", func() {
		for _, plan := range plans[:3] {
			t := alikeWorlds()[2]
			t.world.Design.Trials = 80 // so many that an earlier look could find it
			t.world.Design.Looks, t.world.Design.Spending = plan.looks, plan.spending
			r, found := rand.New(rand.NewPCG(2026, 15)), 0
			for range 50 {
				verdicts, trials := t.world.Run(r)
				found += one(verdicts[0] == result.Equivalent)
				if verdicts[0] == result.Equivalent {
					Expect(trials).To(Equal(t.world.Design.Trials))
				}
			}
			Expect(found).To(BeNumerically(">", 40), "%d looks %s", plan.looks, plan.spending)
		}
	})

	It("of a share may be found at an earlier look", func() {
		w := twoOf(designOf(true, 400, 0.2, result.These), 1, coins(0, 0.9, 0.9))
		w.Design.Looks, w.Design.Spending = 5, pocock
		verdicts, trials := w.Run(rand.New(rand.NewPCG(2026, 15)))
		Expect(verdicts).To(Equal([]result.Verdict{result.Equivalent}))
		Expect(trials).To(BeNumerically("<", 400))
	})
})

var _ = Describe("Rare extreme values in normal noise", Label("H-07"), func() {
	for _, plan := range plans[:3] {
		It(fmt.Sprintf("are called equivalent at most as often as alpha allows, with %d looks %s", plan.looks, plan.spending), func() {
			for _, t := range rareWorlds() {
				if t.world.Design.Trials > 160 {
					continue // the benchmark has them
				}
				t.world.Design.Looks, t.world.Design.Spending = plan.looks, plan.spending
				r := rand.New(rand.NewPCG(2026, 14))
				var s rates
				for range 200 {
					s.add(&t, r)
				}
				Expect(tooMany(s.equal, s.n, 0.05)).To(BeFalse(), "%s: %d of %d are called equivalent", t.name, s.equal, s.n)
			}
		})
	}
})
