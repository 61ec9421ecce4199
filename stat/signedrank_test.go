package stat_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

// rankSums returns the doubled midranks of the differences that are not 0, with the
// signs of the differences.
func rankSums(differences []float64) (ranks []int) {
	for _, d := range differences {
		if d == 0 {
			continue
		}
		less, equal := 0, 0
		for _, other := range differences {
			switch size := math.Abs(other); {
			case other == 0:
			case size < math.Abs(d):
				less++
			case size == math.Abs(d):
				equal++
			}
		}
		rank := 2*less + equal + 1
		if d < 0 {
			rank = -rank
		}
		ranks = append(ranks, rank)
	}
	return ranks
}

// bySigns returns the two-sided p-value over all 2^n assignments of signs to the ranks,
// counted in integers.
func bySigns(differences []float64) float64 {
	ranks := rankSums(differences)
	plus, minus := 0, 0
	ways := map[int]*big.Int{0: big.NewInt(1)}
	for _, r := range ranks {
		if r > 0 {
			plus += r
		} else {
			minus, r = minus-r, -r
		}
		next := map[int]*big.Int{}
		for sum, n := range ways {
			for _, to := range []int{sum, sum + r} {
				if next[to] == nil {
					next[to] = new(big.Int)
				}
				next[to].Add(next[to], n)
			}
		}
		ways = next
	}
	tail := new(big.Int)
	for sum, n := range ways {
		if sum <= min(plus, minus) {
			tail.Add(tail, n)
		}
	}
	p, _ := new(big.Rat).SetFrac(tail.Lsh(tail, 1), new(big.Int).Lsh(big.NewInt(1), uint(len(ranks)))).Float64()
	return min(1, p)
}

// bySignsFast is bySigns in floating point.
func bySignsFast(differences []float64) float64 {
	ranks := rankSums(differences)
	plus, total := 0, 0
	for _, r := range ranks {
		plus += max(0, r)
		total += max(r, -r)
	}
	p := make([]float64, total+1)
	p[0] = 1
	for _, r := range ranks {
		r = max(r, -r)
		for sum := total; sum >= 0; sum-- {
			p[sum] /= 2
			if sum >= r {
				p[sum] += p[sum-r] / 2
			}
		}
	}
	tail := 0.0
	for _, x := range p[:min(plus, total-plus)+1] {
		tail += x
	}
	return min(1, 2*tail)
}

// significant reports whether a sum of negative ranks of n differences without ties is
// significant at 0.05.
func significant(n, sum int) bool {
	d := make([]float64, n)
	for i := range d {
		d[i] = float64(i + 1)
	}
	for i := n - 1; i >= 0; i-- {
		if i+1 <= sum {
			d[i], sum = -d[i], sum-(i+1)
		}
	}
	return bySignsFast(d) <= 0.05
}

// pairMeans returns the means of all pairs in ascending order.
func pairMeans(differences []float64) (means []float64) {
	for i := range differences {
		for j := i; j < len(differences); j++ {
			means = append(means, differences[i]/2+differences[j]/2)
		}
	}
	slices.Sort(means)
	return means
}

// pairedTest is the signed-rank test of one measure, with the estimate that inverts it.
type pairedTest struct {
	P      float64
	Effect stat.Summary
}

func signedRank(differences []float64, level float64) pairedTest {
	joint := stat.JointPairs([][]float64{make([]float64, len(differences))}, [][]float64{differences})
	return pairedTest{joint.P[0], stat.HodgesLehmann(differences, level)}
}

var _ = Describe("the signed-rank test", Label("H-04"), func() {
	// Hollander and Wolfe 1973, page 29 f., as in R's wilcox.test: the depression of
	// nine patients before and after tranquillizers.
	before := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	after := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	depression := make([]float64, len(before))
	for i := range before {
		depression[i] = before[i] - after[i]
	}
	// Darwin's maize, cross-fertilized minus self-fertilized, in eighths of an inch:
	// the example of Wilcoxon 1945 and of SciPy's wilcoxon.
	maize := []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}

	It("agrees with Hollander and Wolfe and with R", func() {
		t := signedRank(depression, 0.95)
		// V = 40; one-sided p = 10/512.
		Expect(t.P).To(BeNumerically("~", 20.0/512, 1e-12))
		Expect(t.Effect.Value).To(BeNumerically("~", 0.46, 1e-9))
		Expect(t.Effect.Interval.Lo).To(BeNumerically("~", 0.010, 1e-9))
		Expect(t.Effect.Interval.Hi).To(BeNumerically("~", 0.786, 1e-9))
		Expect(t.Effect.Interval.Method).To(Equal("signed-rank"))
		Expect(t.Effect.Interval.N).To(Equal(9))
	})

	It("agrees with SciPy on Darwin's maize", func() {
		// T- = 10 + 14 = 24.
		Expect(signedRank(maize, 0.95).P).To(BeNumerically("~", 0.041259765625, 1e-12))
	})

	DescribeTable("is exact with ties and zeros",
		func(want float64, differences ...float64) {
			Expect(signedRank(differences, 0.95).P).To(BeNumerically("~", want, 1e-12))
		},
		Entry("all of one sign: 2 / 2^6", 2.0/64, 1.0, 1.0, 2.0, 2.0, 3.0, 9.0),
		Entry("equal ones are a sign test: 2 x (1 + 8) / 2^8", 18.0/256, 3.0, 3.0, 3.0, 3.0, -3.0, 3.0, 3.0, 3.0),
		Entry("ranks 1.5, 1.5, 3, 4, 5: -1.5 or nothing, 2 x 3 / 2^5", 6.0/32, -1.0, 1.0, 2.0, 3.0, 4.0),
		Entry("zeros do not count", 2.0/64, 0.0, 1.0, 1.0, 0.0, 2.0, 2.0, 3.0, 9.0, 0.0),
		Entry("only zeros", 1.0, 0.0, 0.0),
		Entry("one difference", 1.0, 7.0),
	)

	It("is exact for any differences", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			whole := rapid.SliceOfN(rapid.IntRange(-6, 6), 1, 25).Draw(rt, "differences")
			d := make([]float64, len(whole))
			for i, v := range whole {
				d[i] = float64(v)
			}
			if got, want := signedRank(d, 0.95).P, bySigns(d); math.Abs(got-want) > 1e-12 {
				rt.Fatalf("%v: %g, not %g", d, got, want)
			}
		})
	})

	It("is close to exact where it uses the normal distribution", func() {
		r := rand.New(rand.NewPCG(1, 2))
		for _, scale := range []float64{0.4, 1, 4, 1e6} { // from many ties to none
			for range 3 {
				var d []float64
				for len(rankSums(d)) <= 200 {
					d = append(d, math.Round(scale*(r.NormFloat64()+0.15)))
				}
				t := signedRank(d, 0.95)
				Expect(t.P).To(BeNumerically("~", bySignsFast(d), 0.002), "scale %g", scale)
			}
		}
	})

	It("estimates by the median of the means of pairs, with bounds among them", func() {
		// For 15 differences T = 25 is the largest with P(T ≤ 25) ≤ 0.025 (table A.4 of
		// Hollander and Wolfe: 0.024): the bounds are the 26th means from both ends.
		means := pairMeans(maize)
		e := signedRank(maize, 0.95).Effect
		Expect(e.Value).To(Equal(means[60-1]/2 + means[61-1]/2))
		Expect(e.Interval.Lo).To(Equal(means[26-1]))
		Expect(e.Interval.Hi).To(Equal(means[120-26]))
	})

	It("inverts its test", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n := rapid.IntRange(1, 80).Draw(rt, "n")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
			shift := rapid.Float64Range(-1, 1).Draw(rt, "shift")
			level := rapid.SampledFrom([]float64{0.5, 0.8, 0.95, 0.99}).Draw(rt, "level")
			d := make([]float64, n)
			for i := range d {
				d[i] = r.NormFloat64() + shift
			}
			t := signedRank(d, level)
			in := t.Effect.Interval
			if in == nil {
				if n >= stat.LeastPairs(1-level) {
					rt.Fatalf("no interval for %d pairs", n)
				}
				return
			}
			if holds := in.Lo <= 0 && 0 <= in.Hi; holds != (t.P > 1-level) {
				rt.Fatalf("p is %g, and the interval %+v", t.P, in)
			}
			if !(in.Lo <= t.Effect.Value && t.Effect.Value <= in.Hi) {
				rt.Fatalf("%+v is not in %+v", t.Effect, in)
			}
		})
	})

	It("has the bounds of the distribution without ties for any ties", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			whole := rapid.SliceOfN(rapid.IntRange(-3, 8), 6, 30).Draw(rt, "differences")
			d := make([]float64, len(whole))
			for i, v := range whole {
				d[i] = float64(v)
			}
			out := 0 // largest significant sum of negative ranks
			for significant(len(d), out+1) {
				out++
			}
			means := pairMeans(d)
			in := signedRank(d, 0.95).Effect.Interval
			if in.Lo != means[out] || in.Hi != means[len(means)-1-out] {
				rt.Fatalf("%v: %+v, not %g to %g", d, in, means[out], means[len(means)-1-out])
			}
		})
	})

	It("mirrors and scales with the differences, whatever their order", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			d := rapid.SliceOfN(rapid.Float64Range(-100, 100), 6, 60).Draw(rt, "differences")
			scaled := make([]float64, len(d))
			for i := range d {
				if math.Abs(d[i]) < 1e-300 {
					d[i] = 0 // halves of the smallest numbers are rounded and do not scale
				}
				scaled[len(d)-1-i] = -4 * d[i]
			}
			a, b := signedRank(d, 0.95), signedRank(scaled, 0.95)
			if math.Abs(a.P-b.P) > 1e-12 || a.Effect.Value != -b.Effect.Value/4 ||
				a.Effect.Interval.Lo != -b.Effect.Interval.Hi/4 || a.Effect.Interval.Hi != -b.Effect.Interval.Lo/4 {
				rt.Fatalf("%+v %+v is not the mirror image of %+v %+v", a, a.Effect.Interval, b, b.Effect.Interval)
			}
			means := pairMeans(d)
			n := len(means)
			if median := means[(n-1)/2]/2 + means[n/2]/2; a.Effect.Value != median {
				rt.Fatalf("%g, not %g", a.Effect.Value, median)
			}
		})
	})

	It("supports many differences and the largest numbers", func() {
		r := rand.New(rand.NewPCG(3, 4))
		d := make([]float64, 100_000)
		for i := range d {
			d[i] = r.ExpFloat64() - r.ExpFloat64() + 0.05
		}
		t := signedRank(d, 0.95)
		Expect(t.Effect.Value).To(BeNumerically("~", 0.05, 0.02))
		Expect(t.Effect.Interval.Lo).To(BeNumerically("~", t.Effect.Value-0.008, 0.002))
		huge := signedRank([]float64{-math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, 1, 2, 3, math.SmallestNonzeroFloat64}, 0.9)
		Expect(math.IsInf(huge.Effect.Value, 0) || math.IsNaN(huge.Effect.Value)).To(BeFalse())
		Expect(huge.Effect.Interval.Hi).To(Equal(math.MaxFloat64 / 2)) // mean of MaxFloat64 and 3
	})

	It("is NaN without differences, and rejects invalid arguments", func() {
		none := signedRank(nil, 0.95)
		Expect(none.P).To(Equal(1.0))
		Expect(math.IsNaN(none.Effect.Value)).To(BeTrue())
		few := signedRank([]float64{1, 2, 3, 4, 5}, 0.95)
		Expect(few.P).To(BeNumerically("~", 2.0/32, 1e-12))
		Expect(few.Effect.Interval).To(BeNil())
		Expect(few.Effect.Warnings).To(ConsistOf("5 pairs are too few for an interval"))
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			Expect(func() { signedRank([]float64{1, bad}, 0.95) }).To(Panic())
		}
		Expect(func() { signedRank([]float64{1}, 1) }).To(Panic())
		Expect(func() { signedRank([]float64{1}, 0) }).To(Panic())
	})

	DescribeTable("LeastPairs is the first n with 2 / 2^n at most alpha",
		func(alpha float64, want int) { Expect(stat.LeastPairs(alpha)).To(Equal(want)) },
		Entry("0.05", 0.05, 6),
		Entry("0.01", 0.01, 8),
		Entry("exactly 1/32", 1.0/32, 6),
		Entry("0.001", 0.001, 11),
		Entry("always significant", 1.0, 1),
	)
})
