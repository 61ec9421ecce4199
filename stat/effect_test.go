package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

// sleep are the differences in hours of sleep of ten patients under two drugs, from
// Student's own paper (Biometrika 6, 1908).
var sleep = []float64{1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4}

var _ = Describe("A mean difference", func() {
	It("is Student's for one group: his own example", func() {
		// R: t.test(extra ~ group, data = sleep, paired = TRUE).
		e := stat.Within([][]float64{sleep}, 0)
		Expect(e.Value).To(BeNumerically("~", 1.58, 1e-9))
		Expect(e.Value / e.SE).To(BeNumerically("~", 4.0621, 1e-4))
		Expect(e.DF).To(BeNumerically("~", 9, 1e-9))
		in := e.Summary(0.95).Interval
		Expect(in.Lo).To(BeNumerically("~", 0.7001142, 1e-6))
		Expect(in.Hi).To(BeNumerically("~", 2.4598858, 1e-6))
		Expect(in.Method).To(Equal("student-t"))
		// Student's p is 0.002833, but with nine differences that are not 0 it is at least 2/512.
		Expect(e.P()).To(BeNumerically("~", 2.0/512, 1e-12))
	})

	It("has the published p-values", func() {
		e := stat.Effect{Value: 1.58, SE: 1.58 / 4.0621277, DF: 9, N: 10, Apart: 30}
		Expect(e.P()).To(BeNumerically("~", 0.002833, 1e-6))
	})

	It("is equivalent by two one-sided tests, as in a published example", func() {
		// Mara and Cribbie's test as R's package TOSTER shows it: 65 pairs with means 5.83
		// and 5.75, deviations 1.17 and 1.29, correlation 0.75, a margin of 0.4 deviations.
		deviation := math.Sqrt(1.17*1.17 + 1.29*1.29 - 2*0.75*1.17*1.29)
		e := stat.Effect{Value: 0.08, SE: deviation / math.Sqrt(65), DF: 64, N: 65, Chances: 65, Apart: 65, Odd: 65}
		Expect((e.Value - 0.4*deviation) / e.SE).To(BeNumerically("~", -2.489, 1e-3))
		const reach = 2 // so small that rare values cannot matter compared with the noise
		Expect(e.EquivalenceP(0.4*deviation, reach)).To(BeNumerically("~", 0.0077, 1e-4))
		// If the p-value is alpha, the interval at 1 - 2 alpha just touches the margin.
		margin := e.Summary(0.90).Interval.Hi
		Expect(e.EquivalenceP(margin, reach)).To(BeNumerically("~", 0.05, 1e-9))
	})

	It("ignores differences between groups", func() {
		apart := stat.Within([][]float64{{10, 11, 12}, {-10, -9, -8}}, 0)
		Expect(apart.Value).To(BeNumerically("~", 1, 1e-12))
		Expect(apart.SE).To(BeNumerically("~", math.Sqrt(1.0/3+1.0/3)/2, 1e-12))
		Expect(apart.DF).To(BeNumerically("~", 4, 1e-9))
		Expect(apart.N).To(Equal(6))
		between := stat.Between([][]float64{{10, 11, 12}, {-10, -9, -8}}, 0)
		Expect(between.Value).To(BeNumerically("~", 1, 1e-12))
		Expect(between.SE).To(BeNumerically("~", 10, 1e-12))
		Expect(between.N).To(Equal(2))
	})

	It("has Satterthwaite's degrees of freedom", func() {
		// Two groups of 3 with variances 1 and 100: the second causes nearly all of the error.
		e := stat.Within([][]float64{{1, 2, 3}, {10, 20, 30}}, 0)
		a, b := 1.0/3, 100.0/3
		Expect(e.DF).To(BeNumerically("~", (a+b)*(a+b)/(a*a/2+b*b/2), 1e-9))
	})

	It("gives every group the same weight", func() {
		groups := [][]float64{{1, 1, 1, 1, 1, 2}, {3}, nil}
		Expect(stat.Within(groups, 0).Value).To(BeNumerically("~", (7.0/6+3)/2, 1e-12))
		Expect(stat.Between(groups, 0).Value).To(BeNumerically("~", (7.0/6+3)/2, 1e-12))
		Expect(stat.Within(groups, 0).Known()).To(BeTrue())
	})

	It("is unknown without differences or without a spread", func() {
		for _, e := range []stat.Effect{
			stat.Within(nil, 0), stat.Within([][]float64{{}, {}}, 1), stat.Within([][]float64{{1}, {2}}, 0),
			stat.Between(nil, 1), stat.Between([][]float64{{1, 2, 3}}, 0),
		} {
			Expect(e.Known()).To(BeFalse())
			Expect(e.P()).To(Equal(1.0))
			Expect(e.EquivalenceP(100, 200)).To(Equal(1.0))
			Expect(e.Summary(0.95).Interval).To(BeNil())
		}
	})

	It("is not proved by a few equal differences", func() {
		for n := 2; n < 12; n++ {
			e := stat.Within([][]float64{constant(n, 1)}, 0)
			Expect(e.P()).To(BeNumerically("~", 2*math.Pow(0.5, float64(n)), 1e-12))
			Expect(e.Summary(0.95).Interval).To(BeNil())
			Expect(e.Summary(0.95).Warnings).To(ContainElement(ContainSubstring("the spread is unknown")))
		}
		Expect(stat.Within([][]float64{constant(5, 0)}, 0).P()).To(Equal(1.0))
	})

	It("has too uncertain a spread for planning if nearly all differences are equal", func() {
		for _, groups := range [][][]float64{
			{constant(5, 0)},
			{constant(40, 0.1)},
			{constant(20, 0), constant(20, 0.5)},
			{append(constant(99, 0), 1)},
			{append(constant(99, 0), 1, 2)},
			{append(constant(99, 0.1), 0.1+1e-16, 0.1-1e-16, 0.1)},
		} {
			for _, e := range []stat.Effect{stat.Within(groups, 0), stat.Between(transposed(groups), 0)} {
				Expect(e.Even()).To(BeTrue())
			}
		}
		Expect(stat.Within([][]float64{append(constant(197, 0), 1, 2, 1)}, 0).Even()).To(BeFalse())
		Expect(stat.Within([][]float64{constant(60, 0)}, 1).Even()).To(BeFalse(), "shares are bounded")
	})

	It("gives a group of one pair the mean variance of the others", func() {
		e := stat.Within([][]float64{{1, 2, 3}, {5}}, 0)
		Expect(e.SE).To(BeNumerically("~", math.Sqrt(1.0/3+1)/2, 1e-12))
	})

	It("has one degree of freedom less than groups if the groups are a sample", func() {
		e := stat.Between([][]float64{{1}, {2}, {3}, {5}}, 0)
		Expect(e.DF).To(Equal(3.0))
		in := e.Summary(0.95).Interval
		Expect(in.Hi-e.Value).To(BeNumerically("~", 3.182446*e.SE, 1e-6), "t of 3 degrees of freedom")
	})

	It("is exactly 0 for the same values in another order", func() {
		values := []float64{0.1, 0.7, 1.3, 2.2, 0.0011, 0.35, 1e-3, 17.3}
		r := rand.New(rand.NewPCG(1, 1))
		for range 200 {
			other, diff := slices.Clone(values), make([]float64, len(values))
			r.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
			for i := range diff {
				diff[i] = other[i] - values[i]
			}
			Expect(stat.Mean(other)).To(Equal(stat.Mean(values)))
			Expect(stat.Within([][]float64{diff}, 0).Value).To(BeZero())
		}
		// 263 calls in 200 trials, one pair after the other.
		var calls []float64
		for i := range 200 {
			calls = append(calls, 1+float64(one(i < 63)))
		}
		Expect(stat.Within([][]float64{calls}, 0).Value).To(Equal(1.315))
	})

	It("tests equivalence of a rare count with the spread at the margin", func() {
		// k of 1,000 pairs differ by 1. The score z for a Poisson mean with continuity
		// correction is (margin - k - 1/2) / sqrt(margin), both per thousand.
		for _, k := range []int{4, 9} {
			e := stat.Within([][]float64{append(constant(1000-k, 0), constant(k, 1)...)}, 0)
			for _, margin := range []float64{10, 15, 20} {
				z := (margin - float64(k) - 0.5) / math.Sqrt(margin)
				want := distuv.StudentsT{Sigma: 1, Nu: 999}.Survival(z)
				Expect(e.EquivalenceP(margin/1000, 1)).To(BeNumerically("~", want, 0.1*want), "%d of %g", k, margin)
			}
			mirrored := stat.Within([][]float64{append(constant(1000-k, 0), constant(k, -1)...)}, 0)
			Expect(mirrored.EquivalenceP(0.015, 1)).To(BeNumerically("~", e.EquivalenceP(0.015, 1), 1e-12))
		}
	})
})

// transposed returns one group for each value, so that the values are means of groups.
func transposed(groups [][]float64) [][]float64 {
	var all [][]float64
	for _, group := range groups[:1] {
		for _, v := range group {
			all = append(all, []float64{v})
		}
	}
	return all
}

func constant(n int, v float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v
	}
	return all
}

var _ = Describe("A difference of shares", func() {
	It("has the interval of Tango's score if no pair differs", func() {
		// ±z²/(n + z²); with many pairs Student's quantile is z.
		e := stat.Within([][]float64{constant(5000, 0)}, 1)
		in := e.Summary(0.95).Interval
		Expect(in.Hi).To(BeNumerically("~", 3.8415/(5000+3.8415), 1e-6))
		Expect(in.Lo).To(Equal(-in.Hi))
		Expect(in.Method).To(Equal("score-t"))
	})

	It("is close to McNemar's exact test if few pairs differ", func() {
		for _, apart := range []int{5, 6, 7, 8} {
			e := stat.Within([][]float64{append(constant(40-apart, 0), constant(apart, 1)...)}, 1)
			Expect(e.P()).To(And(BeNumerically(">=", 0.8*stat.McNemar(apart, 0)), BeNumerically("<", 3*stat.McNemar(apart, 0))), "%d apart", apart)
		}
	})

	It("does not report equivalence if a difference would rarely have been observed", func() {
		// If one variant fails with probability 0.1 and the other never does, n pairs
		// without any difference have probability 0.9^n.
		for n := 2; n < 200; n++ {
			e := stat.Within([][]float64{constant(n, 0)}, 1)
			Expect(e.EquivalenceP(0.1, 1)).To(BeNumerically(">=", math.Pow(0.9, float64(n))-1e-12), "%d pairs", n)
		}
		Expect(stat.Within([][]float64{constant(60, 0)}, 1).EquivalenceP(0.1, 1)).To(BeNumerically("<", 0.05))
	})

	It("is Student's if the groups are a sample, and equivalent only if no rare group can matter", func() {
		groups := [][]float64{{0, 0.2}, {0, 0}, {-0.2, 0}, {0, 0.1}, {0, -0.1}, {0, 0}}
		shares, plain := stat.Between(groups, 1), stat.Between(groups, 0)
		Expect(shares.P()).To(Equal(plain.P()))
		Expect(shares.Summary(0.95).Interval).To(Equal(plain.Summary(0.95).Interval))
		Expect(plain.EquivalenceP(0.2, 0.25)).To(BeNumerically("<", 0.05))
		// Six scenarios did not fail, which is likely even if one in five does (0.8⁶ = 0.26).
		Expect(shares.EquivalenceP(0.2, 1)).To(BeNumerically(">", 0.1))
		same := stat.Between([][]float64{{0, 0}, {0}, {0}, {0}}, 1)
		Expect(same.Summary(0.95).Interval.Hi).To(BeNumerically(">", 0.5))
	})

	It("has intervals that agree with the tests and stay in the range of shares", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			n := rapid.IntRange(3, 80).Draw(t, "n")
			groups := make([][]float64, rapid.IntRange(1, 4).Draw(t, "groups"))
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			share := rapid.Float64Range(0, 1).Draw(t, "share")
			for g := range groups {
				for range n {
					d := 0.0
					if r.Float64() < share {
						d = float64(r.IntN(2)*2 - 1)
					}
					groups[g] = append(groups[g], d)
				}
			}
			e := stat.Within(groups, 1)
			in := e.Summary(0.95).Interval
			Expect(in.Lo).To(And(BeNumerically(">=", -1), BeNumerically("<=", e.Value)))
			Expect(in.Hi).To(And(BeNumerically("<=", 1), BeNumerically(">=", e.Value)))
			if in.Lo > 1e-9 || in.Hi < -1e-9 {
				Expect(e.P()).To(BeNumerically("<=", max(0.05+1e-9, 2*math.Pow(0.5, float64(e.Apart)))))
			} else {
				Expect(e.P()).To(BeNumerically(">=", 0.05-1e-6))
			}
		})
	})
})
