package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

func first(c []int) float64 {
	n := 0
	for _, k := range c {
		n += k
	}
	return float64(c[0]) / float64(n)
}

var _ = Describe("Bootstrap", Label("H-04"), func() {
	// The resamples of a share k/n are Binomial(n, k/n)/n, so the percentile interval
	// is that of the distribution, up to the error of 20,000 draws.
	DescribeTable("has the quantiles of the binomial distribution for a share",
		func(k, n int, lo, hi float64) {
			s := stat.Bootstrap([]int{k, n - k}, first, 20_000, 1, 0.95)
			Expect(s.Value).To(Equal(float64(k) / float64(n)))
			Expect(s.Interval.Lo * float64(n)).To(BeNumerically("~", lo, 1))
			Expect(s.Interval.Hi * float64(n)).To(BeNumerically("~", hi, 1))
			Expect(s.Interval.Method).To(Equal("bootstrap"))
			Expect(s.Interval.Level).To(Equal(0.95))
			Expect(s.Interval.N).To(Equal(n))
			Expect(s.N).To(Equal(n))
			Expect(s.Warnings).To(BeEmpty())
		},
		Entry("R: qbinom(c(0.025, 0.975), 100, 0.3)", 30, 100, 21.0, 39.0),
		Entry("R: qbinom(c(0.025, 0.975), 763, 137/763)", 137, 763, 117.0, 158.0),
	)

	It("is equivalent to drawing items", func() {
		counts := []int{100, 20, 37, 606}
		got := stat.Bootstrap(counts, f1, 20_000, 1, 0.95).Interval
		var items []int
		for cell, n := range counts {
			items = append(items, slices.Repeat([]int{cell}, n)...)
		}
		r := rand.New(rand.NewPCG(5, 6))
		var values []float64
		for range 5000 {
			drawn := make([]int, len(counts))
			for range items {
				drawn[items[r.IntN(len(items))]]++
			}
			values = append(values, f1(drawn))
		}
		slices.Sort(values)
		Expect(got.Lo).To(BeNumerically("~", values[125], 0.005))
		Expect(got.Hi).To(BeNumerically("~", values[4875], 0.005))
	})

	It("keeps pairs together", func() {
		// Two classifiers on 400 items: both right on 300, only one on 10, only the
		// other on 30, neither on 60. The difference of their shares has the variance
		// (10 + 30 - (30-10)²/400) / 400², a standard error of 0.0155. Drawn
		// independently, it would be 0.0283.
		s := stat.Bootstrap([]int{300, 10, 30, 60}, func(c []int) float64 {
			return float64(c[2]-c[1]) / float64(c[0]+c[1]+c[2]+c[3])
		}, 20_000, 3, 0.95)
		Expect(s.Value).To(Equal(0.05))
		Expect((s.Interval.Hi - s.Interval.Lo) / (2 * 1.96)).To(BeNumerically("~", math.Sqrt(39)/400, 0.0005))
	})

	It("depends only on the seed", func() {
		run := func(seed uint64) stat.Summary { return stat.Bootstrap([]int{100, 20, 37, 606}, f1, 500, seed, 0.95) }
		Expect(run(1)).To(Equal(run(1)))
		Expect(run(1).Interval).NotTo(Equal(run(2).Interval))
	})

	It("drops resamples without a value, with a warning", func() {
		// 2 of 20 items are found: (18/20)^20 = 12 % of the resamples contain none of them,
		// and F1 is 0 of 0 there.
		s := stat.Bootstrap([]int{1, 1, 0, 18}, f1, 10_000, 1, 0.95)
		Expect(s.Warnings).To(HaveLen(1))
		Expect(s.Warnings[0]).To(MatchRegexp(`^1[12]\d\d of 10000 resamples have no value$`))
		Expect(s.Interval).NotTo(BeNil())
	})

	It("has no interval without a spread, or without items", func() {
		s := stat.Bootstrap([]int{5, 0, 0, 5}, first, 200, 1, 0.95)
		Expect(s.Interval).NotTo(BeNil())
		same := stat.Bootstrap([]int{0, 3, 0, 5}, first, 200, 1, 0.95)
		Expect(same.Value).To(BeZero())
		Expect(same.Interval).To(BeNil())
		Expect(same.Warnings).To(ConsistOf(ContainSubstring("all resamples are equal")))
		few := stat.Bootstrap([]int{3, 3}, first, 50, 1, 0.95)
		Expect(few.Interval).To(BeNil())
		Expect(few.Warnings).To(ConsistOf("too few for an interval"))
		for _, counts := range [][]int{nil, {0, 0, 0, 0}} {
			none := stat.Bootstrap(counts, f1, 200, 1, 0.95)
			Expect(math.IsNaN(none.Value)).To(BeTrue())
			Expect(none.Interval).To(BeNil())
			Expect(none.Warnings).NotTo(BeEmpty())
		}
		nothing := stat.Bootstrap([]int{0, 0, 0, 9}, f1, 200, 1, 0.95)
		Expect(math.IsNaN(nothing.Value)).To(BeTrue())
		Expect(nothing.N).To(Equal(9))
		Expect(nothing.Interval).To(BeNil())
		Expect(func() { stat.Bootstrap([]int{1, -1}, first, 200, 1, 0.95) }).To(Panic())
	})

	It("contains its value and draws as many items as there are", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			counts := rapid.SliceOfN(rapid.IntRange(0, 300), 2, 8).Draw(rt, "counts")
			n := 0
			for _, c := range counts {
				n += c
			}
			s := stat.Bootstrap(counts, func(drawn []int) float64 {
				m := 0
				for i, d := range drawn {
					m += d
					if d < 0 || counts[i] == 0 && d > 0 {
						rt.Fatalf("drew %v from %v", drawn, counts)
					}
				}
				if m != n {
					rt.Fatalf("drew %d of %d", m, n)
				}
				return first(drawn)
			}, 120, rapid.Uint64().Draw(rt, "seed"), 0.95)
			if in := s.Interval; in != nil && !(0 <= in.Lo && in.Lo <= s.Value && s.Value <= in.Hi && in.Hi <= 1) {
				rt.Fatalf("%+v %+v", s, in)
			}
		})
	})
})
