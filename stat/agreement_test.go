package stat_test

import (
	"math"
	"math/big"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

// exactly is the p-value of McNemar's test in whole numbers: twice the number of
// ways in which b+c tosses of a coin give at most min(b, c) heads, of all 2^(b+c).
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
		Entry("none the other way: 2 / 2^6", 0, 6, 2.0/64),
		Entry("one difference says nothing", 0, 1, 1.0),
		Entry("as many both ways", 7, 7, 1.0),
		Entry("no differences", 0, 0, 1.0),
	)

	It("agrees with whole numbers", func() {
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

	It("holds for large counts and refuses nonsense", func() {
		// z = (50500 - 49500) / sqrt(100000) = 3.16: p = 0.0016 by the normal one.
		Expect(stat.McNemar(49_500, 50_500)).To(BeNumerically("~", 0.0016, 0.0001))
		Expect(func() { stat.McNemar(-1, 2) }).To(Panic())
	})
})

var _ = Describe("Kappa", Label("H-04"), func() {
	DescribeTable("is agreement beyond chance",
		func(table [][]int, agreement, kappa float64) {
			Expect(stat.Agreement(table)).To(BeNumerically("~", agreement, 1e-12))
			Expect(stat.Kappa(table)).To(BeNumerically("~", kappa, 1e-12))
		},
		// Margins 0.5, 0.3, 0.2 and 0.6, 0.3, 0.1: by chance 0.30 + 0.09 + 0.02.
		Entry("Cohen, Psychological Bulletin 70, 1968, table 1, of 100", [][]int{{44, 5, 1}, {7, 20, 3}, {9, 5, 6}}, 0.70, (0.70-0.41)/(1-0.41)),
		// By chance 25/50 x 30/50 + 25/50 x 20/50 = 0.5.
		Entry("grants of two readers", [][]int{{20, 5}, {10, 15}}, 0.7, 0.4),
		Entry("all the same", [][]int{{3, 0}, {0, 4}}, 1.0, 1.0),
		Entry("always the contrary", [][]int{{0, 5}, {5, 0}}, 0.0, -1.0),
		Entry("no better than chance", [][]int{{9, 3}, {3, 1}}, 0.625, 0.0),
	)

	It("is nothing where there is nothing to agree on", func() {
		Expect(math.IsNaN(stat.Kappa([][]int{{0, 0}, {0, 0}}))).To(BeTrue())
		Expect(math.IsNaN(stat.Kappa([][]int{{8, 0}, {0, 0}}))).To(BeTrue())
		Expect(math.IsNaN(stat.Agreement(nil))).To(BeTrue())
	})
})
