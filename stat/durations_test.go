package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/stat"
)

var _ = Describe("Durations", Label("H-04"), func() {
	of := func(seconds ...float64) *stat.Durations {
		d := &stat.Durations{}
		for _, s := range seconds {
			d.Add(s)
		}
		return d
	}

	It("is exact for few different durations", func() {
		d := of(0.004, 0.001, 0.003, 0.002, 0.001)
		q := d.Quantiles(0.95, 0, 0.5, 1)
		Expect([]float64{q[0].Value, q[1].Value, q[2].Value}).To(Equal([]float64{0.001, 0.002, 0.004}))
		Expect(d.N()).To(Equal(5))
		Expect(d.Max()).To(Equal(0.004))
		Expect(d.Mean(0.95).Value).To(BeNumerically("~", 0.0022, 1e-15))
		Expect(d.Rounded()).To(BeFalse())
	})

	It("has no values if empty, and counts negative durations as 0", func() {
		Expect(math.IsNaN(of().Quantiles(0.95, 0.5)[0].Value)).To(BeTrue())
		Expect(of(-1).Quantiles(0.95, 0.5)[0].Value).To(BeZero())
	})

	It("rounds many different durations to three digits, in any order, with a warning", func() {
		r := rand.New(rand.NewPCG(1, 2))
		all := make([]float64, 50_000)
		for i := range all {
			all[i] = math.Exp(r.NormFloat64()) / 1000
		}
		d := of(all...)
		back := slices.Clone(all)
		slices.Reverse(back)
		Expect(d.Rounded()).To(BeTrue())
		Expect(d.Max()).To(Equal(slices.Max(all)))
		slices.Sort(all)
		for i, s := range d.Quantiles(0.95, 0.5, 0.99) {
			exact := stat.QuantileValue(len(all), func(i int) float64 { return all[i] }, []float64{0.5, 0.99}[i])
			Expect(s.Value).To(BeNumerically("~", exact, 0.005*exact))
			Expect(s.Warnings).To(ContainElement(ContainSubstring("rounded")))
			Expect(of(back...).Quantiles(0.95, 0.5, 0.99)[i]).To(Equal(s))
		}
	})
})
