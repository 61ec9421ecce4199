package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/stat"
)

var _ = Describe("joint tests", Label("H-04"), func() {
	noise := func(r *rand.Rand, n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = r.NormFloat64()
		}
		return values
	}

	It("are exact sign tests for pairs of one measure", func() {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{3, 8, 14, 40} {
			before, after := noise(r, n), noise(r, n)
			differences := make([]float64, n)
			for i := range differences {
				differences[i] = after[i] - before[i]
			}
			got := stat.JointPairs([][]float64{before}, [][]float64{after})
			Expect(got.P[0]).To(BeNumerically("~", bySigns(differences), 1e-12))
			Expect(got.Least[0]).To(Equal(math.Ldexp(1, 1-n)))
		}
	})
	It("are rank-sum tests for samples of one measure", func() {
		// R: wilcox.test(c(1.1,2.2,3.3,4.4), c(2.5,5.5,6.6,7.7))$p.value is 0.1142857.
		got := stat.JointSamples([][]float64{{1.1, 2.2, 3.3, 4.4}}, [][]float64{{2.5, 5.5, 6.6, 7.7}})
		Expect(got.P[0]).To(BeNumerically("~", 0.1142857, 1e-7))
		Expect(got.Least[0]).To(BeNumerically("~", 2.0/70, 1e-15))
		Expect(got.Extreme[0]).To(BeFalse())
		far := stat.JointSamples([][]float64{{1, 2, 3}}, [][]float64{{7, 8, 9}})
		Expect(far).To(Equal(stat.Joint{P: []float64{0.1}, Least: []float64{0.1}, Extreme: []bool{true}}))
	})
	DescribeTable("count measures that change together as one, and others as several",
		func(joint func(before, after [][]float64) stat.Joint, n int) {
			r := rand.New(rand.NewPCG(3, 4))
			before, after := noise(r, n), noise(r, n)
			for i := range after {
				after[i] += 5 / math.Sqrt(float64(n))
			}
			double := func(values []float64) []float64 {
				out := slices.Clone(values)
				for i := range out {
					out[i] = 3*out[i] + 7
				}
				return out
			}
			alone := joint([][]float64{before}, [][]float64{after}).P[0]
			together := joint([][]float64{before, double(before)}, [][]float64{after, double(after)}).P
			Expect(together[0]).To(BeNumerically("~", alone, max(0.4*alone, 0.0005)))
			Expect(together[1]).To(Equal(together[0]))
			other := joint([][]float64{before, noise(r, n), noise(r, n)}, [][]float64{after, noise(r, n), noise(r, n)}).P
			Expect(other[0]).To(BeNumerically(">", 1.3*alone))
			Expect(other[0]).To(BeNumerically("<=", 3*alone+1e-12))
		},
		Entry("pairs, all of them", stat.JointPairs, 10),
		Entry("pairs, drawn", stat.JointPairs, 30),
		Entry("samples, all of them", stat.JointSamples, 7),
		Entry("samples, drawn", stat.JointSamples, 12),
	)
	DescribeTable("reject no more often than their level, for any correlation of the measures",
		func(joint func(before, after [][]float64) stat.Joint, n int, common float64) {
			r := rand.New(rand.NewPCG(5, 6))
			rejected := 0
			for range 1000 {
				side := func() [][]float64 {
					all, own := noise(r, n), [][]float64{noise(r, n), noise(r, n), noise(r, n)}
					for _, m := range own {
						for i := range m {
							m[i] = math.Round(2 * (common*all[i] + m[i])) // with ties
						}
					}
					return own
				}
				if slices.Min(joint(side(), side()).P) <= 0.05 {
					rejected++
				}
			}
			Expect(stat.Proportion(rejected, 1000, 0.999).Interval.Lo).To(BeNumerically("<=", 0.05), "%d", rejected)
			Expect(rejected).To(BeNumerically(">=", 15))
		},
		Entry("pairs, independent", stat.JointPairs, 9, 0.0),
		Entry("pairs, nearly the same", stat.JointPairs, 9, 5.0),
		Entry("pairs, drawn", stat.JointPairs, 20, 1.0),
		Entry("samples, independent", stat.JointSamples, 6, 0.0),
		Entry("samples, nearly the same", stat.JointSamples, 6, 5.0),
		Entry("samples, drawn", stat.JointSamples, 10, 1.0),
	)
	It("leave out missing values and measures without differences", func() {
		nan := math.NaN()
		for want, joint := range map[float64]func(before, after [][]float64) stat.Joint{0.5: stat.JointPairs, 2.0 / 6: stat.JointSamples} {
			got := joint([][]float64{{1, nan, 3, 4}, {1, 1, 1, 1}}, [][]float64{{5, 6, nan, 9}, {1, 1, 1, 1}})
			Expect(got.P).To(Equal([]float64{want, 1}))
			Expect(got.Extreme).To(Equal([]bool{true, false}))
		}
		Expect(stat.JointSamples([][]float64{{nan, 1}}, [][]float64{{1, nan}}).P).To(Equal([]float64{1}))
	})
})

var _ = Describe("Holm's method with Tarone's factor", Label("H-04"), func() {
	It("equals Holm's method if all can be significant", func() {
		p := []float64{0.01, 0.04, 0.03, 0.005}
		var tests []stat.Hypothesis
		for i, x := range p {
			tests = append(tests, stat.Hypothesis{Group: i, P: x})
		}
		got, first, last := stat.HolmTarone(tests, 0.05)
		want := stat.Holm(p)
		Expect([]float64{got[0], got[3]}).To(Equal([]float64{want[0], want[3]}), "they are rejected")
		Expect([]float64{got[1], got[2]}).To(HaveEach(BeNumerically(">", 0.05)))
		Expect([]int{first, last}).To(Equal([]int{4, 2}))
	})
	It("ignores hypotheses that could not have been significant", func() {
		// At alpha 0.05 each of the four could be significant alone, at 0.025 only two of them.
		tests := []stat.Hypothesis{{0, 0.02, 0.001}, {1, 0.5, 0.02}, {2, 0.04, 0.03}, {3, 0.045, 0.04}}
		got, first, last := stat.HolmTarone(tests, 0.05)
		Expect(first).To(Equal(2))
		Expect(got[0]).To(BeNumerically("~", 0.04, 1e-12))
		Expect(last).To(Equal(2))
		Expect(got[2]).To(BeNumerically("~", 0.08, 1e-12))
	})
	It("counts a group once, until all of it is rejected", func() {
		tests := []stat.Hypothesis{{0, 0.001, 0}, {0, 0.02, 0}, {1, 0.03, 0}}
		got, _, last := stat.HolmTarone(tests, 0.05)
		Expect(got).To(Equal([]float64{0.002, 0.04, 0.04}))
		Expect(last).To(Equal(1))
	})
	It("rejects values that are not probabilities", func() {
		Expect(func() { stat.HolmTarone([]stat.Hypothesis{{0, math.NaN(), 0}}, 0.05) }).To(Panic())
		Expect(func() { stat.HolmTarone([]stat.Hypothesis{{0, 0.5, -1}}, 0.05) }).To(Panic())
	})
})
