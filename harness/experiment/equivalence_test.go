package experiment_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment/result"
)

// rareInNoise are values with ordinary noise around 1; the second variant adds more in a
// share of its trials, so that the difference of the means is share times more.
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

// spread are log-normal values with a deviation of their logarithm for each variant: the
// wider one has a mean that is larger by what is rarely seen.
func spread(greatest float64, deviations ...float64) func(*rand.Rand) func(v, s int) float64 {
	return func(r *rand.Rand) func(v, s int) float64 {
		return func(v, _ int) float64 { return min(greatest, math.Exp(deviations[v]*r.NormFloat64())) }
	}
}

// rareWorlds are worlds in which the second variant differs by the smallest effect, and
// that rarely shows.
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

var _ = Describe("Rare values far away in ordinary noise", Label("H-07"), func() {
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
