package stat_test

import (
	"math"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

var _ = Describe("Holm", Label("H-04"), func() {
	DescribeTable("multiplies the smallest by the number of all, the next by one less, and keeps the order",
		func(p, want []float64) {
			got := stat.Holm(p)
			for i := range want {
				Expect(got[i]).To(BeNumerically("~", want[i], 1e-12))
			}
		},
		// The example of Wikipedia's article on the method: 0.005 and 0.01 are rejected at
		// 0.05, as 4 x 0.005 and 3 x 0.01 are less, and 2 x 0.03 is more.
		Entry("four", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}),
		// R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")
		Entry("five in order", []float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}),
		Entry("at most 1", []float64{0.9, 0.6, 1}, []float64{1, 1, 1}),
		Entry("a single one is unchanged", []float64{0.04}, []float64{0.04}),
		Entry("equal ones stay equal", []float64{0.02, 0.02, 0.02}, []float64{0.06, 0.06, 0.06}),
		Entry("none", nil, nil),
	)

	It("lies between the value and Bonferroni's, keeps the order, and rejects stepwise", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 40).Draw(rt, "p")
			alpha := rapid.Float64Range(0.001, 0.5).Draw(rt, "alpha")
			before := slices.Clone(p)
			got := stat.Holm(p)
			if !slices.Equal(p, before) {
				rt.Fatal("the argument was changed")
			}
			m := float64(len(p))
			for i := range p {
				if got[i] < p[i] || got[i] > math.Min(1, m*p[i]) {
					rt.Fatalf("%g became %g", p[i], got[i])
				}
				for j := range p {
					if p[i] < p[j] && got[i] > got[j] {
						rt.Fatalf("%v became %v", p, got)
					}
				}
			}
			// Holm's description of the procedure: from the smallest on, while p(j) ≤ alpha/(m-j+1).
			sorted := slices.Sorted(slices.Values(p))
			rejected := 0
			for rejected < len(sorted) && (m-float64(rejected))*sorted[rejected] <= alpha {
				rejected++
			}
			count := 0
			for _, a := range got {
				if a <= alpha {
					count++
				}
			}
			if count != rejected {
				rt.Fatalf("%d rejected, not %d, of %v at %g", count, rejected, p, alpha)
			}
		})
	})

	It("rejects values that are not probabilities", func() {
		for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
			Expect(func() { stat.Holm([]float64{0.5, bad}) }).To(Panic())
		}
	})
})
