package stat_test

import (
	"math"
	"math/rand/v2"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/stat"
)

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// noise returns n differences around 0 with a standard deviation.
func noise(n int, deviation float64) []float64 {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	all := make([]float64, n)
	for i := range all {
		all[i] = deviation * r.NormFloat64()
	}
	return all
}

var _ = Describe("Equivalence of a measure that is not a share", func() {
	It("is never shown if a single difference is unbounded", func() {
		for _, groups := range [][][]float64{{constant(200, 0)}, {noise(200, 0.1)}, {noise(50, 0.1), noise(60, 0.2)}} {
			for _, reach := range []float64{0, -1, math.NaN(), math.Inf(1)} {
				Expect(stat.Within(groups, 0).EquivalenceP(1, reach)).To(Equal(1.0))
				Expect(stat.Between(groups, 0).EquivalenceP(1, reach)).To(Equal(1.0))
			}
		}
	})

	It("has the probability of an unobserved rare difference if all differences are equal", func() {
		// A share of margin / reach, of which none is in n pairs.
		for _, n := range []int{20, 100, 300} {
			e := stat.Within([][]float64{constant(n, 0)}, 0)
			Expect(e.EquivalenceP(2, 100)).To(BeNumerically("~", math.Pow(0.98, float64(n)), 1e-9))
		}
		// A rare pair is less likely to be observed in a scenario with few pairs.
		e := stat.Within([][]float64{constant(100, 0), constant(20, 0)}, 0)
		Expect(e.EquivalenceP(2, 100)).To(BeNumerically("~", math.Pow(0.98, 40), 1e-9))
		// A sample of ten scenarios counts as ten, whatever the number of pairs in each.
		groups := make([][]float64, 10)
		for i := range groups {
			groups[i] = constant(50, 0)
		}
		Expect(stat.Between(groups, 0).EquivalenceP(2, 10)).To(BeNumerically("~", math.Pow(0.8, 10), 1e-9))
	})

	It("is not more certain with noise than without", func() {
		for _, n := range []int{20, 100, 300} {
			e := stat.Within([][]float64{noise(n, 0.1)}, 0)
			Expect(e.EquivalenceP(2, 100)).To(BeNumerically(">=", 0.9*math.Pow(0.98, float64(n))))
			Expect(e.EquivalenceP(2, 100)).To(BeNumerically("<=", 1.3*math.Pow(0.98, float64(n))))
		}
	})

	It("equals two one-sided t tests if a single difference cannot matter", func() {
		values := noise(100, 1)
		near, far := stat.Within([][]float64{values}, 0), 0.0
		for _, reach := range []float64{3, 6, 30, 100, 1000} {
			p := near.EquivalenceP(0.4, reach)
			Expect(p).To(BeNumerically(">=", far), "the p-value must not fall as the reach grows")
			far = p
		}
		z := (0.4 - math.Abs(near.Value)) / near.SE
		Expect(near.EquivalenceP(0.4, 3)).To(BeNumerically("~", student(99, z), 0.2*student(99, z)))
		Expect(far).To(BeNumerically(">", 0.9))
	})

	It("has the allowance that a search over all shares of rare values finds", func() {
		e := stat.Within([][]float64{noise(80, 1)}, 0)
		for _, reach := range []float64{10, 20, 40} {
			worst := 0.0
			for s := 0.0; s < 0.2; s += 1e-5 {
				z := (0.5 - e.Value - s*reach) / e.SE // this noise is skewed to the other side, or hardly at all
				worst = max(worst, math.Pow(1-s, 80)*student(79, z))
			}
			Expect(e.BelowP(0.5, reach)).To(BeNumerically("~", worst, 0.15*worst))
		}
	})
})

func student(nu, z float64) float64 {
	e := stat.Effect{Value: z, SE: 1, DF: nu, N: int(nu) + 1, Apart: 100}
	if z < 0 {
		return 1 - e.P()/2
	}
	return e.P() / 2
}

var _ = Describe("One-sided tests", func() {
	It("decide on which side of a limit the difference lies", func() {
		e := stat.Effect{Value: 1, SE: 0.25, DF: 1e6, N: 50, Chances: 50, Apart: 50, Odd: 50}
		Expect(e.AboveP(0.5, 1)).To(BeNumerically("~", 0.02275, 1e-4))
		Expect(e.BelowP(1.5, 1)).To(BeNumerically("~", 0.02275, 1e-4))
		Expect(e.AboveP(1, 1)).To(BeNumerically("~", 0.5, 1e-9))
		Expect(e.AboveP(1.5, 1)).To(BeNumerically("~", 0.97725, 1e-4))
		Expect(stat.Within([][]float64{constant(6, -1)}, 1).AboveP(-0.1, 1)).To(BeNumerically(">", 0.99))
		Expect(stat.Within([][]float64{constant(60, 0)}, 1).AboveP(-0.1, 1)).To(BeNumerically("<", 0.05))
	})

	It("report how many observations they need", func() {
		none := stat.Within([][]float64{constant(10, 0)}, 1)
		n := none.Needed(0.05, func(e stat.Effect) float64 { return e.AboveP(-0.1, 1) })
		Expect(stat.Within([][]float64{constant(n, 0)}, 1).AboveP(-0.1, 1)).To(BeNumerically("<=", 0.05))
		Expect(stat.Within([][]float64{constant(n-1, 0)}, 1).AboveP(-0.1, 1)).To(BeNumerically(">", 0.05))
		never := stat.Within([][]float64{constant(3, -1)}, 1)
		Expect(never.Needed(0.05, func(e stat.Effect) float64 { return e.AboveP(-0.1, 1) })).To(BeZero())
		Expect(never.Needed(0.05, stat.Effect.P)).To(Equal(6), "2 / 2^6 is 0.031")
		Expect(stat.Effect{}.Needed(0.05, stat.Effect.P)).To(BeZero())
		enough := stat.Within([][]float64{constant(50, 1)}, 1)
		Expect(enough.Needed(0.05, stat.Effect.P)).To(Equal(50), "at least the current number")
	})
})
