package stat_test

import (
	"math"
	"math/big"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

// exactly computes the p-value of McNemar's test in integers: twice the number of
// ways in which b+c tosses of a coin give at most min(b, c) heads, out of 2^(b+c).
func exactly(b, c int) float64 {
	n := int64(b + c)
	ways := new(big.Int)
	for i := range int64(min(b, c)) + 1 {
		ways.Add(ways, new(big.Int).Binomial(n, i))
	}
	p, _ := new(big.Rat).SetFrac(ways.Lsh(ways, 1), new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
	return min(1, p)
}

var _ = Describe("McNemar", Label("H-04"), func() {
	DescribeTable("is the two-sided binomial test of the discordant pairs",
		func(b, c int, want float64) {
			Expect(stat.McNemar(b, c)).To(BeNumerically("~", want, 1e-12))
			Expect(stat.McNemar(c, b)).To(BeNumerically("~", want, 1e-12))
		},
		Entry("2 x (1 + 9) / 2^9", 1, 8, 20.0/512),
		Entry("2 x (1 + 20 + 190 + 1140 + 4845 + 15504) / 2^20", 5, 15, 2*21700.0/1048576),
		Entry("all in one direction: 2 / 2^6", 0, 6, 2.0/64),
		Entry("one difference proves nothing", 0, 1, 1.0),
		Entry("equally many in both directions", 7, 7, 1.0),
		Entry("no differences", 0, 0, 1.0),
	)

	It("agrees with integer arithmetic", func() {
		// The approval ratings in Agresti (Categorical Data Analysis, 2002, section
		// 10.1): 86 changed their mind one way and 150 the other.
		Expect(stat.McNemar(86, 150)).To(BeNumerically("~", 3.716e-5, 5e-9))
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			b, c := rapid.IntRange(0, 400).Draw(rt, "b"), rapid.IntRange(0, 400).Draw(rt, "c")
			got, want := stat.McNemar(b, c), exactly(b, c)
			if math.Abs(got-want) > 1e-9*want || got != stat.McNemar(c, b) || got > 1 {
				rt.Fatalf("McNemar(%d, %d) is %g, not %g", b, c, got, want)
			}
		})
	})

	It("supports large counts and rejects negative ones", func() {
		// z = (50500 - 49500) / sqrt(100000) = 3.16: p = 0.0016 by the normal approximation.
		Expect(stat.McNemar(49_500, 50_500)).To(BeNumerically("~", 0.0016, 0.0001))
		Expect(func() { stat.McNemar(-1, 2) }).To(Panic())
	})
})

var _ = Describe("Kappa", Label("H-04"), func() {
	DescribeTable("is agreement beyond chance",
		func(table [][]int, kappa float64) {
			Expect(stat.Kappa(table)).To(BeNumerically("~", kappa, 1e-12))
		},
		// Margins 0.5, 0.3, 0.2 and 0.6, 0.3, 0.1: by chance 0.30 + 0.09 + 0.02.
		Entry("Cohen, Psychological Bulletin 70, 1968, table 1, of 100", [][]int{{44, 5, 1}, {7, 20, 3}, {9, 5, 6}}, (0.70-0.41)/(1-0.41)),
		// By chance 25/50 x 30/50 + 25/50 x 20/50 = 0.5.
		Entry("grants of two readers", [][]int{{20, 5}, {10, 15}}, 0.4),
		Entry("all the same", [][]int{{3, 0}, {0, 4}}, 1.0),
		Entry("always the opposite", [][]int{{0, 5}, {5, 0}}, -1.0),
		Entry("no better than chance", [][]int{{9, 3}, {3, 1}}, 0.0),
	)

	It("is NaN if agreement is undefined", func() {
		Expect(math.IsNaN(stat.Kappa([][]int{{0, 0}, {0, 0}}))).To(BeTrue())
		Expect(math.IsNaN(stat.Kappa([][]int{{8, 0}, {0, 0}}))).To(BeTrue())
		Expect(math.IsNaN(stat.Kappa(nil))).To(BeTrue())
	})
})

var _ = Describe("KappaInterval", Label("H-04"), func() {
	It("is the exact interval of the agreement, converted to kappa", func() {
		// R: binom.test(19, 20)$conf.int is 0.7512672 0.9987349; the margins give 0.5.
		s := stat.KappaInterval([][]int{{10, 0}, {1, 9}}, 0.95)
		Expect(s.Value).To(BeNumerically("~", 0.9, 1e-12))
		Expect(s.Interval.Lo).To(BeNumerically("~", 2*0.7512672-1, 1e-6))
		Expect(s.Interval.Hi).To(BeNumerically("~", 2*0.9987349-1, 1e-6))
		Expect(stat.KappaInterval([][]int{{10, 0}, {0, 10}}, 0.95).Interval.Lo).To(BeNumerically("~", 0.663133, 1e-6))
	})
	It("gets lower with each disagreement", func() {
		for _, rows := range [][2]int{{10, 10}, {10, 30}, {10, 90}} {
			for wrong := range 6 {
				for other := range 6 {
					lo := func(wrong, other int) float64 {
						return stat.KappaInterval([][]int{{rows[0] - wrong, wrong}, {other, rows[1] - other}}, 0.95).Interval.Lo
					}
					Expect(lo(wrong+1, other)).To(BeNumerically("<", lo(wrong, other)))
					Expect(lo(wrong, other+1)).To(BeNumerically("<", lo(wrong, other)))
				}
			}
		}
	})
	DescribeTable("has a lower end above the true kappa with probability at most 2.5 %, over all tables",
		func(pass, fail int) {
			for _, missed := range []float64{0.05, 0.1, 0.15, 0.2, 0.3} {
				for _, alarms := range []float64{0.05, 0.1, 0.15, 0.2, 0.3} {
					Expect(above(pass, fail, missed, alarms)).To(BeNumerically("<=", 0.025), "%g %g", missed, alarms)
				}
			}
		},
		Entry("20 labels", 10, 10), Entry("40", 20, 20), Entry("40, unequal", 10, 30), Entry("100", 50, 50), Entry("300", 100, 200),
	)
	It("is missing if kappa is undefined", func() {
		Expect(stat.KappaInterval([][]int{{9, 0}, {0, 0}}, 0.95).Interval).To(BeNil())
		Expect(stat.KappaInterval([][]int{{0, 0}, {0, 0}}, 0.95).Interval).To(BeNil())
		Expect(stat.KappaInterval([][]int{{0, 5}, {5, 0}}, 0.95).Interval.Lo).To(BeNumerically("~", -1, 1e-12))
	})
})

// above returns the probability that the lower end is above the true kappa of a judge that
// errs on passed and failed items with these probabilities.
func above(pass, fail int, missed, alarms float64) (p float64) {
	n := float64(pass + fail)
	agreement := (float64(pass)*(1-missed) + float64(fail)*(1-alarms)) / n
	passed := (float64(pass)*(1-missed) + float64(fail)*alarms) / n
	chance := passed*float64(pass)/n + (1-passed)*float64(fail)/n
	truth := (agreement - chance) / (1 - chance)
	for i := range pass + 1 {
		for j := range fail + 1 {
			chances := distuv.Binomial{N: float64(pass), P: missed}.Prob(float64(i)) * distuv.Binomial{N: float64(fail), P: alarms}.Prob(float64(j))
			if chances < 1e-12 {
				continue
			}
			if in := stat.KappaInterval([][]int{{pass - i, i}, {j, fail - j}}, 0.95).Interval; in != nil && in.Lo > truth {
				p += chances
			}
		}
	}
	return p
}
