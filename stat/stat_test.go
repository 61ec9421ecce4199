package stat_test

import (
	"math"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

func quantile(xs []float64, q, level float64) stat.Summary {
	return stat.Quantile(len(xs), func(i int) float64 { return xs[i] }, q, level)
}

var _ = Describe("Proportion", Label("H-04"), func() {
	// Newcombe 1998, table I, method 3: 95 % intervals to four places.
	DescribeTable("agrees with Newcombe's worked examples",
		func(k, n int, lo, hi float64) {
			s := stat.Proportion(k, n, 0.95)
			Expect(s.Value).To(Equal(float64(k) / float64(n)))
			Expect(s.Interval.Lo).To(BeNumerically("~", lo, 0.00005))
			Expect(s.Interval.Hi).To(BeNumerically("~", hi, 0.00005))
			Expect(*s.Interval).To(HaveField("Method", "wilson"))
			Expect(*s.Interval).To(HaveField("Level", 0.95))
			Expect(*s.Interval).To(HaveField("N", n))
			Expect(s.N).To(Equal(n))
		},
		Entry("81 of 263", 81, 263, 0.2553, 0.3662),
		Entry("15 of 148", 15, 148, 0.0624, 0.1605),
		Entry("0 of 20", 0, 20, 0.0, 0.1611),
		Entry("1 of 29", 1, 29, 0.0061, 0.1718),
	)

	It("is wider at a higher level", func() {
		Expect(stat.Proportion(5, 10, 0.99).Interval.Lo).To(BeNumerically("<", stat.Proportion(5, 10, 0.95).Interval.Lo))
	})

	It("contains its value, lies between 0 and 1, and is symmetric in failures", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n := rapid.IntRange(1, 1e6).Draw(rt, "n")
			k := rapid.IntRange(0, n).Draw(rt, "k")
			s, mirror := stat.Proportion(k, n, 0.95), stat.Proportion(n-k, n, 0.95)
			if !(0 <= s.Interval.Lo && s.Interval.Lo <= s.Value && s.Value <= s.Interval.Hi && s.Interval.Hi <= 1) {
				rt.Fatalf("%+v %+v", s, s.Interval)
			}
			if math.Abs(s.Interval.Lo-(1-mirror.Interval.Hi)) > 1e-9 {
				rt.Fatalf("%+v is not the mirror image of %+v", s.Interval, mirror.Interval)
			}
		})
	})

	It("is NaN for 0 of 0, and rejects invalid arguments", func() {
		s := stat.Proportion(0, 0, 0.95)
		Expect(math.IsNaN(s.Value)).To(BeTrue())
		Expect(s.Interval).To(BeNil())
		Expect(s.Warnings).NotTo(BeEmpty())
		Expect(func() { stat.Proportion(2, 1, 0.95) }).To(Panic())
		Expect(func() { stat.Proportion(-1, 1, 0.95) }).To(Panic())
		Expect(func() { stat.Proportion(1, 1, 1) }).To(Panic())
	})
})

var _ = Describe("Quantile", Label("H-04"), func() {
	oneToTen := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}

	DescribeTable("is of type 7",
		func(xs []float64, q, want float64) {
			Expect(quantile(xs, q, 0.95).Value).To(BeNumerically("~", want, 1e-12))
		},
		Entry("R: quantile(1:10, 0.25): index 9 x 0.25 = 2.25", oneToTen, 0.25, 3.25),
		Entry("R: quantile(1:10, 0.95): index 9 x 0.95 = 8.55", oneToTen, 0.95, 9.55),
		Entry("NumPy's example: percentile([1 2 3 4 7 10], 50)", []float64{1, 2, 3, 4, 7, 10}, 0.5, 3.5),
		Entry("the smallest", oneToTen, 0.0, 1.0),
		Entry("the largest", oneToTen, 1.0, 10.0),
		Entry("one value", []float64{4}, 0.95, 4.0),
	)

	It("has the interval of the binomial distribution", func() {
		// Median of 9: ranks 2 and 8 are exceeded with probability
		// 2 x (C(9,0) + C(9,1)) / 2^9 = 20/512, so the level is 492/512 = 0.9609.
		in := quantile(oneToTen[:9], 0.5, 0.95).Interval
		Expect(in.Level).To(BeNumerically("~", 492.0/512, 1e-12))
		in.Level = 0
		Expect(*in).To(Equal(stat.Interval{Lo: 2, Hi: 8, Method: "order-statistic", N: 9}))
	})

	It("has the exact level for any number of values", func() {
		for _, n := range []int{31, 59, 75, 100, 444, 5000} {
			all := make([]float64, n)
			for i := range all {
				all[i] = float64(i + 1)
			}
			for _, q := range []float64{0.1, 0.5, 0.9, 0.95} {
				in := quantile(all, q, 0.95).Interval
				if in == nil {
					continue
				}
				below := distuv.Binomial{N: float64(n), P: q}
				Expect(in.Level).To(BeNumerically("~", below.CDF(in.Hi-1)-below.CDF(in.Lo-1), 1e-9), "%d %g", n, q)
				Expect(in.Level).To(And(BeNumerically(">=", 0.95), BeNumerically("<", 0.99)))
			}
		}
	})

	DescribeTable("has an interval from the smallest possible number of values on",
		func(q float64, least int) {
			// The largest possible level is 1 - qⁿ - (1-q)ⁿ.
			values := func(n int) *stat.Interval {
				return stat.Quantile(n, func(i int) float64 { return float64(i) }, q, 0.95).Interval
			}
			Expect(values(least - 1)).To(BeNil())
			Expect(values(least)).NotTo(BeNil())
			Expect(values(least).Lo).To(BeNumerically("<", values(least).Hi))
		},
		Entry("the median", 0.5, 6),
		Entry("the 90th percentile", 0.9, 29),
		Entry("the 95th percentile", 0.95, 59),
		Entry("the 99th percentile", 0.99, 299),
		Entry("the 5th percentile", 0.05, 59),
	)

	It("has no interval for the extremes of a distribution", func() {
		Expect(quantile(oneToTen, 0, 0.95).Interval).To(BeNil())
		Expect(quantile(oneToTen, 1, 0.95).Interval).To(BeNil())
	})

	It("has no interval for too few values", func() {
		s := quantile(oneToTen[:5], 0.5, 0.95) // 1 - 2/32 = 0.9375 at most
		Expect(s.Interval).To(BeNil())
		Expect(s.Warnings).To(ConsistOf("5 values are too few for an interval"))
		Expect(quantile(oneToTen, 0.95, 0.95).Interval).To(BeNil())
		Expect(math.IsNaN(quantile(nil, 0.5, 0.95).Value)).To(BeTrue())
		Expect(math.IsNaN(stat.QuantileValue(0, nil, 0.5))).To(BeTrue())
	})

	It("lies between the smallest and the largest value, and grows with q", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			xs := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 1, 200).Draw(rt, "xs")
			slices.Sort(xs)
			p := rapid.Float64Range(0, 1).Draw(rt, "p")
			q := rapid.Float64Range(p, 1).Draw(rt, "q")
			a, b := quantile(xs, p, 0.95), quantile(xs, q, 0.95)
			if !(xs[0] <= a.Value && a.Value <= b.Value+1e-6 && b.Value <= xs[len(xs)-1]) {
				rt.Fatalf("%v %v", a, b)
			}
			if a.Interval != nil && !(xs[0] <= a.Interval.Lo && a.Interval.Lo <= a.Interval.Hi && a.Interval.Hi <= xs[len(xs)-1]) {
				rt.Fatalf("%+v", a.Interval)
			}
		})
	})
})

var _ = Describe("Moments", Label("H-04"), func() {
	moments := func(xs ...float64) *stat.Moments {
		m := &stat.Moments{}
		for _, x := range xs {
			m.Add(x)
		}
		return m
	}

	It("agrees with Student's own example", func() {
		// The differences of Cushny and Peebles' sleep data, in Student 1908; R's
		// t.test prints mean 1.58 and the interval 0.7001142 to 2.4598858.
		s := moments(1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4).Mean(0.95)
		Expect(s.Value).To(BeNumerically("~", 1.58, 1e-12))
		Expect(s.Interval.Lo).To(BeNumerically("~", 0.7001142, 5e-8))
		Expect(s.Interval.Hi).To(BeNumerically("~", 2.4598858, 5e-8))
		Expect(s.Interval.Method).To(Equal("student-t"))
		Expect(s.Interval.Level).To(Equal(0.95))
		Expect(s.Interval.N).To(Equal(10))
		Expect(s.N).To(Equal(10))
	})

	It("avoids cancellation with a large offset", func() {
		// {4, 7, 13, 16} has mean 10 and variance 30; t(3, 0.975) = 3.182446.
		s := moments(1e9+4, 1e9+7, 1e9+13, 1e9+16).Mean(0.95)
		Expect(s.Value).To(Equal(1e9 + 10))
		Expect(s.Interval.Hi - s.Value).To(BeNumerically("~", 3.182446*math.Sqrt(30.0/4), 1e-5))
	})

	It("has no interval for a single value or for equal values", func() {
		one := moments(3).Mean(0.95)
		Expect(one).To(Equal(stat.Summary{Value: 3, N: 1}))
		equal := moments(3, 3, 3).Mean(0.95)
		Expect(equal.Interval).To(BeNil())
		Expect(equal.Warnings).To(ConsistOf("all 3 values are equal"))
		Expect(math.IsNaN(moments().Mean(0.95).Value)).To(BeTrue())
	})

	It("sums and counts", func() {
		m := moments(1, 2, 4)
		Expect(m.N()).To(Equal(3))
		Expect(m.Sum()).To(Equal(7.0))
	})
})
