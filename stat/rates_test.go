package stat_test

import (
	"math"
	"math/big"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

// fisher computes the p-value in integers.
func fisher(k1, n1, k2, n2 int) float64 {
	ways := func(k int) *big.Int {
		a, b := new(big.Int).Binomial(int64(n1), int64(k)), new(big.Int).Binomial(int64(n2), int64(k1+k2-k))
		return a.Mul(a, b)
	}
	seen, sum, total := ways(k1), new(big.Int), new(big.Int)
	for k := max(0, k1+k2-n2); k <= min(n1, k1+k2); k++ {
		w := ways(k)
		total.Add(total, w)
		if w.Cmp(seen) <= 0 {
			sum.Add(sum, w)
		}
	}
	p, _ := new(big.Rat).SetFrac(sum, total).Float64()
	return p
}

var _ = Describe("The mean of shares", func() {
	It("has Wilson's interval of all trials if groups have equally many", func() {
		s := stat.MeanShare([][]float64{{1, 0, 0, 1, 0}, {0, 0, 1, 0, 0}, {1, 1, 0, 0, 1}, {0, 0, 0, 0, 0}}, 0.95)
		want := stat.Proportion(6, 20, 0.95)
		Expect(s.Value).To(BeNumerically("~", 0.3, 1e-12))
		Expect(s.N).To(Equal(20))
		Expect(s.Interval.Lo).To(BeNumerically("~", want.Interval.Lo, 1e-12))
		Expect(s.Interval.Hi).To(BeNumerically("~", want.Interval.Hi, 1e-12))
		Expect(s.Interval.N).To(Equal(20))
	})

	It("counts fewer trials if groups have different numbers of them", func() {
		s := stat.MeanShare([][]float64{{1, 1, 1, 1, 1, 1, 1, 1}, nil, {1, 0}}, 0.95)
		Expect(s.Value).To(Equal(0.75))
		// 2² / (1/8 + 1/2) is 6.4 trials.
		Expect(s.Interval.Lo).To(BeNumerically(">", stat.Proportion(3, 4, 0.95).Interval.Lo))
		Expect(s.Interval.Lo).To(BeNumerically("<", stat.Proportion(6, 8, 0.95).Interval.Lo))
	})

	It("is exact at the ends of the scale, and NaN without trials", func() {
		Expect(stat.MeanShare([][]float64{{1, 1}, {1}}, 0.95).Interval.Hi).To(Equal(1.0))
		Expect(stat.MeanShare([][]float64{{0, 0}, {0}}, 0.95).Interval.Lo).To(Equal(0.0))
		Expect(stat.MeanShare([][]float64{nil}, 0.95).Interval).To(BeNil())
	})
})

var _ = Describe("Fisher", Label("H-04"), func() {
	DescribeTable("agrees with R's fisher.test",
		func(k1, n1, k2, n2 int, want, within float64) {
			Expect(stat.Fisher(k1, n1, k2, n2)).To(BeNumerically("~", want, within))
		},
		Entry("tea (Agresti 1990, page 61; Fisher 1935): 2 x (1 + 16) / 70", 3, 4, 1, 4, 34.0/70, 1e-9),
		Entry("convictions of twins (Fisher 1962)", 2, 17, 10, 13, 0.0005367, 5e-8),
		Entry("all and none of four: 2 / C(8, 4)", 4, 4, 0, 4, 2.0/70, 1e-9),
		Entry("equal rates", 5, 10, 5, 10, 1.0, 1e-9),
		Entry("nothing on one side", 0, 0, 3, 4, 1.0, 0.0),
	)

	It("agrees with integer arithmetic", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n1, n2 := rapid.IntRange(1, 120).Draw(rt, "n1"), rapid.IntRange(1, 120).Draw(rt, "n2")
			k1, k2 := rapid.IntRange(0, n1).Draw(rt, "k1"), rapid.IntRange(0, n2).Draw(rt, "k2")
			got, want := stat.Fisher(k1, n1, k2, n2), fisher(k1, n1, k2, n2)
			if math.Abs(got-want) > 1e-6*want || math.Abs(got-stat.Fisher(k2, n2, k1, n1)) > 1e-9 {
				rt.Fatalf("%d of %d, %d of %d: %g, not %g", k1, n1, k2, n2, got, want)
			}
		})
	})

	It("supports counts of any size and rejects invalid ones", func() {
		// z = 0.01 / sqrt(0.5 x 0.5 x 2/20,000) = 2, less the correction: p = 0.0466.
		Expect(stat.Fisher(10_000, 20_000, 10_200, 20_000)).To(BeNumerically("~", 0.0466, 0.0005))
		Expect(stat.Fisher(500_000, 1_000_000, 501_414, 1_000_000)).To(BeNumerically("~", 0.0456, 0.0005))
		Expect(stat.Fisher(math.MaxInt/2, math.MaxInt, 1, math.MaxInt)).To(BeNumerically("<", 1e-9))
		Expect(stat.Fisher(0, math.MaxInt, 0, math.MaxInt)).To(Equal(1.0))
		Expect(func() { stat.Fisher(2, 1, 0, 1) }).To(Panic())
		Expect(func() { stat.Fisher(0, 1, -1, 1) }).To(Panic())
	})
})

var _ = Describe("RateDifference", Label("H-04"), func() {
	// Newcombe 1998, Interval estimation for the difference between independent
	// proportions, table II, method 10: the first sample minus the second; here the samples are
	// swapped.
	DescribeTable("agrees with Newcombe's worked examples",
		func(k1, n1, k2, n2 int, lo, hi float64) {
			s := stat.RateDifference(k2, n2, k1, n1, 0.95)
			Expect(s.Value).To(BeNumerically("~", float64(k1)/float64(n1)-float64(k2)/float64(n2), 1e-12))
			Expect(s.Interval.Lo).To(BeNumerically("~", lo, 0.00005))
			Expect(s.Interval.Hi).To(BeNumerically("~", hi, 0.00005))
			Expect(s.Interval.Method).To(Equal("newcombe"))
			Expect(s.N).To(Equal(n1 + n2))
		},
		Entry("a", 56, 70, 48, 80, 0.0524, 0.3339),
		Entry("b", 9, 10, 3, 10, 0.1705, 0.8090),
		Entry("c", 6, 7, 2, 7, 0.0582, 0.8062),
		Entry("d", 5, 56, 0, 29, -0.0381, 0.1926),
		Entry("e", 0, 10, 0, 20, -0.1611, 0.2775),
		Entry("f", 0, 10, 0, 10, -0.2775, 0.2775),
		Entry("g", 10, 10, 0, 20, 0.6791, 1.0),
		Entry("h", 10, 10, 0, 10, 0.6075, 1.0),
	)

	It("contains its value, is symmetric, and is NaN if a side is empty", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n1, n2 := rapid.IntRange(1, 1e6).Draw(rt, "n1"), rapid.IntRange(1, 1e6).Draw(rt, "n2")
			k1, k2 := rapid.IntRange(0, n1).Draw(rt, "k1"), rapid.IntRange(0, n2).Draw(rt, "k2")
			s, mirror := stat.RateDifference(k1, n1, k2, n2, 0.95), stat.RateDifference(k2, n2, k1, n1, 0.95)
			if !(-1 <= s.Interval.Lo && s.Interval.Lo <= s.Value && s.Value <= s.Interval.Hi && s.Interval.Hi <= 1) {
				rt.Fatalf("%+v %+v", s, s.Interval)
			}
			if math.Abs(s.Interval.Lo+mirror.Interval.Hi) > 1e-12 {
				rt.Fatalf("%+v is not the mirror image of %+v", s.Interval, mirror.Interval)
			}
		})
		Expect(math.IsNaN(stat.RateDifference(0, 0, 1, 2, 0.95).Value)).To(BeTrue())
		Expect(func() { stat.RateDifference(3, 2, 1, 2, 0.95) }).To(Panic())
	})
})

// share returns the share of the ways to choose k of n trials, of which the first c passed, in
// which at least least of the chosen trials passed.
func share(k, c, n, least int) float64 {
	hits, all := 0, 0
	for set := range 1 << n {
		chosen, passed := 0, 0
		for i := range n {
			if set>>i&1 == 1 {
				chosen++
				if i < c {
					passed++
				}
			}
		}
		if chosen != k {
			continue
		}
		all++
		if passed >= least {
			hits++
		}
	}
	return float64(hits) / float64(all)
}

var _ = Describe("PassAt and PassAll", Label("H-04"), func() {
	DescribeTable("give the estimates of Chen et al. and of tau-bench",
		func(k, c, n int, at, all float64) {
			Expect(stat.PassAt(k, c, n, 0.95).Value).To(BeNumerically("~", at, 1e-12))
			Expect(stat.PassAll(k, c, n, 0.95).Value).To(BeNumerically("~", all, 1e-12))
		},
		Entry("of one: the rate", 1, 7, 10, 0.7, 0.7),
		Entry("1 - C(3,2)/C(5,2) and C(2,2)/C(5,2)", 2, 2, 5, 0.7, 0.1),
		Entry("1 - C(190,10)/C(200,10), and 1/C(200,10)", 10, 10, 200, 0.4085478660814, 4.4541e-17),
		Entry("fewer failures than draws", 4, 7, 10, 1.0, 35.0/210),
		Entry("none passed", 3, 0, 8, 0.0, 0.0),
		Entry("all passed", 3, 8, 8, 1.0, 1.0),
	)

	It("are shares of all possible choices", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n := rapid.IntRange(1, 9).Draw(rt, "n")
			c, k := rapid.IntRange(0, n).Draw(rt, "c"), rapid.IntRange(1, n).Draw(rt, "k")
			at, all := stat.PassAt(k, c, n, 0.95), stat.PassAll(k, c, n, 0.95)
			if math.Abs(at.Value-share(k, c, n, 1)) > 1e-12 || math.Abs(all.Value-share(k, c, n, k)) > 1e-12 {
				rt.Fatalf("pass@%d of %d/%d is %g, pass^%d %g", k, c, n, at.Value, k, all.Value)
			}
			for _, s := range []stat.Summary{at, all} {
				if in := s.Interval; !(0 <= in.Lo && in.Lo <= s.Value && s.Value <= in.Hi && in.Hi <= 1) {
					rt.Fatalf("%+v %+v", s, in)
				}
			}
		})
	})

	It("transform the interval of the rate to k trials", func() {
		rate := stat.Proportion(18, 20, 0.95).Interval
		Expect(stat.PassAll(3, 18, 20, 0.95).Interval.Lo).To(BeNumerically("~", rate.Lo*rate.Lo*rate.Lo, 1e-12))
		Expect(stat.PassAll(3, 18, 20, 0.95).Interval.Hi).To(BeNumerically("~", rate.Hi*rate.Hi*rate.Hi, 1e-12))
		Expect(stat.PassAt(3, 4, 20, 0.95).Interval.Lo).To(BeNumerically("~", 1-math.Pow(1-stat.Proportion(4, 20, 0.95).Interval.Lo, 3), 1e-12))
		Expect(stat.PassAt(3, 4, 20, 0.95).Interval.N).To(Equal(20))
	})

	It("have no value for more trials than there were", func() {
		for _, s := range []stat.Summary{stat.PassAt(4, 2, 3, 0.95), stat.PassAll(4, 2, 3, 0.95), stat.PassAt(1, 0, 0, 0.95)} {
			Expect(math.IsNaN(s.Value)).To(BeTrue())
			Expect(s.Interval).To(BeNil())
			Expect(s.Warnings).NotTo(BeEmpty())
		}
		Expect(func() { stat.PassAt(0, 1, 2, 0.95) }).To(Panic())
		Expect(func() { stat.PassAll(1, 3, 2, 0.95) }).To(Panic())
	})
})

var _ = Describe("Needed", Label("H-04"), func() {
	of := func(value, lo, hi float64, n int) stat.Summary {
		return stat.Summary{Value: value, N: n, Interval: &stat.Interval{Lo: lo, Hi: hi, Level: 0.95, N: n}}
	}
	DescribeTable("is the number at which the interval has shrunk enough",
		func(s stat.Summary, margin float64, tests, want int) {
			Expect(stat.Needed(s, margin, tests)).To(Equal(want))
		},
		Entry("to exclude 0: half as wide, four times as many", of(1, -1, 3, 10), 0.0, 1, 40),
		Entry("below 0 the upper bound decides", of(-1, -9, 1, 10), 0.0, 1, 40),
		Entry("to fit into the margin: a quarter as wide", of(0, -8, 8, 10), 2.0, 1, 160),
		Entry("whichever comes first: 0.5 of 2.5, or 2 of 2.5", of(0.5, -2, 3, 10), 2.5, 1, 16),
		// 2.2414 / 1.9600 = 1.1436 times as wide; its square is 1.3078.
		Entry("two tests need slightly more", of(1, -1, 3, 10), 0.0, 2, 53),
		Entry("no number is enough without an effect or a margin", of(0, -1, 1, 10), 0.0, 1, 0),
		Entry("nothing is known", stat.Summary{Value: 1, N: 3}, 1.0, 1, 0),
		Entry("more than the limit", of(1e-9, -1, 1, 10), 0.0, 1, 0),
	)
	It("never panics, and is smaller for a larger margin", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			v := rapid.Float64Range(-1e6, 1e6).Draw(rt, "value")
			s := of(v, v-rapid.Float64Range(0, 1e6).Draw(rt, "below"), v+rapid.Float64Range(0, 1e6).Draw(rt, "above"), rapid.IntRange(1, 1e6).Draw(rt, "n"))
			margin := rapid.Float64Range(0, 1e6).Draw(rt, "margin")
			few, many := stat.Needed(s, 2*margin, 3), stat.Needed(s, margin, 3)
			if few < 0 || many > 0 && few > many || many > 0 && few == 0 {
				rt.Fatalf("got %d for twice the margin, %d for the margin", few, many)
			}
		})
	})
})
