package stat_test

import (
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

// unconditional is Boschloo's one-sided value by its definition: over all tables and a
// fine grid of rates.
func unconditional(k1, n1, k2, n2 int) float64 {
	tail := func(a, b int) (sum float64) {
		for k := a; k <= min(n1, a+b); k++ {
			if a+b-k <= n2 {
				sum += choose(n1, k) * choose(n2, a+b-k) / choose(n1+n2, a+b)
			}
		}
		return sum
	}
	seen, largest := tail(k1, k2)*(1+1e-9), 0.0
	for i := 1; i < 1000; i++ {
		rate, sum := float64(i)/1000, 0.0
		for a := range n1 + 1 {
			for b := range n2 + 1 {
				if tail(a, b) <= seen {
					sum += choose(n1, a) * choose(n2, b) * math.Pow(rate, float64(a+b)) * math.Pow(1-rate, float64(n1+n2-a-b))
				}
			}
		}
		largest = max(largest, sum)
	}
	return largest
}

func choose(n, k int) float64 {
	ways := 1.0
	for i := range k {
		ways = ways * float64(n-i) / float64(i+1)
	}
	return math.Round(ways)
}

var _ = Describe("Boschloo", Label("H-04"), func() {
	DescribeTable("gives twice the one-sided value",
		func(k1, n1, k2, n2 int, want, within float64) {
			Expect(stat.Boschloo(k1, n1, k2, n2)).To(BeNumerically("~", want, within))
			Expect(stat.Boschloo(k2, n2, k1, n1)).To(BeNumerically("~", want, within))
		},
		// SciPy takes the columns of [[74, 31], [43, 32]] for the samples.
		Entry("the example of SciPy's boschloo_exact: one-sided 0.0355", 74, 117, 31, 63, 2*0.0355, 0.0002),
		Entry("all and none of three: at most (1/2)^6, on each side", 3, 3, 0, 3, 2.0/64, 1e-12),
		Entry("all and none of one", 1, 1, 0, 1, 2.0/4, 1e-12),
		Entry("no difference", 2, 4, 2, 4, 1.0, 0.1),
		Entry("nothing on one side", 0, 0, 3, 4, 1.0, 0.0),
		Entry("none of any", 0, 8, 0, 9, 1.0, 0.0),
	)

	It("is the largest probability of what is as far out", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n1, n2 := rapid.IntRange(1, 5).Draw(rt, "n1"), rapid.IntRange(1, 5).Draw(rt, "n2")
			k1, k2 := rapid.IntRange(0, n1).Draw(rt, "k1"), rapid.IntRange(0, n2).Draw(rt, "k2")
			want := min(1, 2*min(unconditional(k1, n1, k2, n2), unconditional(k2, n2, k1, n1)))
			if got := stat.Boschloo(k1, n1, k2, n2); math.Abs(got-want) > 1e-5 {
				rt.Fatalf("%d of %d, %d of %d: %g, not %g", k1, n1, k2, n2, got, want)
			}
		})
	})

	It("is symmetric, and mirrors failures", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n1, n2 := rapid.IntRange(1, 150).Draw(rt, "n1"), rapid.IntRange(1, 150).Draw(rt, "n2")
			k1, k2 := rapid.IntRange(0, n1).Draw(rt, "k1"), rapid.IntRange(0, n2).Draw(rt, "k2")
			p := stat.Boschloo(k1, n1, k2, n2)
			for _, other := range []float64{stat.Boschloo(k2, n2, k1, n1), stat.Boschloo(n1-k1, n1, n2-k2, n2)} {
				if !(p > 0 && p <= 1) || math.Abs(p-other) > 1e-6*p {
					rt.Fatalf("%d of %d, %d of %d: %g and %g", k1, n1, k2, n2, p, other)
				}
			}
		})
	})

	It("has its least value where all of one and none of the other pass", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n1, n2 := rapid.IntRange(1, 40).Draw(rt, "n1"), rapid.IntRange(1, 40).Draw(rt, "n2")
			least := stat.LeastBoschloo(n1, n2)
			if p := stat.Boschloo(n1, n1, 0, n2); math.Abs(p-least) > 1e-9*least {
				rt.Fatalf("%d and %d: %g, not %g", n1, n2, least, p)
			}
			k1, k2 := rapid.IntRange(0, n1).Draw(rt, "k1"), rapid.IntRange(0, n2).Draw(rt, "k2")
			if p := stat.Boschloo(k1, n1, k2, n2); p < least*(1-1e-9) {
				rt.Fatalf("%d of %d, %d of %d: %g is less than %g", k1, n1, k2, n2, p, least)
			}
		})
		Expect(stat.LeastBoschloo(0, 5)).To(Equal(1.0))
	})

	It("is about Fisher's for large samples, and Fisher's for very large ones", func() {
		Expect(stat.Boschloo(500, 1000, 540, 1000)).To(BeNumerically("~", stat.Fisher(500, 1000, 540, 1000), 0.01))
		Expect(stat.Boschloo(500, 1000, 540, 1000)).To(BeNumerically("<", stat.Fisher(500, 1000, 540, 1000)))
		Expect(stat.Boschloo(500, 1000, 540, 1001)).To(Equal(stat.Fisher(500, 1000, 540, 1001)))
		Expect(stat.Boschloo(1, math.MaxInt, 1, math.MaxInt)).To(Equal(1.0))
		Expect(func() { stat.Boschloo(-1, 1, 0, 1) }).To(Panic())
	})
})
