package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/stat"
)

// noises are series without a change.
var noises = map[string]func(r *rand.Rand) float64{
	"normal":             func(r *rand.Rand) float64 { return r.NormFloat64() },
	"skewed, heavy tail": func(r *rand.Rand) float64 { return math.Exp(2 * r.NormFloat64()) },
	"mostly ties":        func(r *rand.Rand) float64 { return float64(min(1, r.IntN(10))) },
	"rates of 5 trials": func(r *rand.Rand) float64 {
		passed := 0
		for range 5 {
			passed += min(1, r.IntN(5))
		}
		return float64(passed) / 5
	},
}

// series returns n values of noise, shifted by a step from index at on.
func series(r *rand.Rand, noise func(*rand.Rand) float64, n, at int, step float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = noise(r)
		if i >= at {
			values[i] += step
		}
	}
	return values
}

var _ = Describe("Changes of level", func() {
	const alpha = 0.01
	find := func(values []float64, seed uint64) []stat.Change {
		return stat.ChangePoints{Alpha: alpha, Seed: seed}.Find(values)
	}

	It("are found where a constant series steps", func() {
		values := make([]float64, 30)
		for i := range values {
			values[i] = 100
			if i >= 20 {
				values[i] = 120
			}
		}
		changes := find(values, 1)
		Expect(changes).To(HaveLen(1))
		Expect(changes[0].At).To(Equal(20))
		Expect(changes[0].P).To(BeNumerically("<=", 0.001))
	})

	It("are not found in a constant series, in few values, or in none", func() {
		Expect(find(make([]float64, 50), 1)).To(BeEmpty())
		Expect(find([]float64{1, 1, 9, 9}, 1)).To(BeEmpty())
		Expect(find(nil, 1)).To(BeEmpty())
	})

	It("are all found, in order", func() {
		r := rand.New(rand.NewPCG(3, 4))
		values := append(series(r, noises["normal"], 25, 25, 0), series(r, noises["normal"], 40, 20, -12)...)
		for i := range 40 {
			values[25+i] += 8
		}
		changes := find(values, 1)
		Expect(changes).To(HaveLen(2))
		Expect([]int{changes[0].At, changes[1].At}).To(Equal([]int{25, 45}))
	})

	// The binomial standard error of 1,000 series at 1 % is 0.3 %: the limit is three of them above.
	for name, noise := range noises {
		It("are rarely found in noise: "+name, func() {
			r := rand.New(rand.NewPCG(11, 12))
			series1000, alarms := 1000, 0
			for i := range series1000 {
				if len(find(series(r, noise, []int{10, 20, 40}[i%3], 0, 0), uint64(i))) > 0 {
					alarms++
				}
			}
			AddReportEntry("false alarms of 1,000 series", alarms)
			Expect(alarms).To(BeNumerically("<=", 20))
		})
	}

	It("are seldom found where successive values are correlated", func() {
		const rho, all = 0.5, 500
		r := rand.New(rand.NewPCG(31, 32))
		alarms := 0
		for i := range all {
			x := r.NormFloat64()
			if len(find(series(r, func(r *rand.Rand) float64 {
				x = rho*x + math.Sqrt(1-rho*rho)*r.NormFloat64()
				return x
			}, 40, 0, 0), uint64(i))) > 0 {
				alarms++
			}
		}
		AddReportEntry("false alarms of 500 series", alarms)
		Expect(alarms).To(BeNumerically("<=", all/10), "a fifth without the correction")
	})

	It("are found if they are large, and the search finds no others", func() {
		r := rand.New(rand.NewPCG(21, 22))
		found, others := 0, 0
		for i := range 300 {
			changes := find(series(r, noises["normal"], 40, 20, 2), uint64(i))
			for _, c := range changes {
				if c.At >= 17 && c.At <= 23 {
					found++
				} else {
					others++
				}
			}
		}
		AddReportEntry("found and others of 300", []int{found, others})
		Expect(found).To(BeNumerically(">=", 280))
		Expect(others).To(BeNumerically("<=", 20))
	})

	It("do not depend on the scale, repeat, and leave 3 values on each side", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			values := rapid.SliceOfN(rapid.Float64Range(-10, 10), 0, 40).Draw(t, "values")
			if rapid.Bool().Draw(t, "step") {
				for i := len(values) / 2; i < len(values); i++ {
					values[i] += 30
				}
			}
			scaled := make([]float64, len(values))
			for i, v := range values {
				scaled[i] = 8 * v
			}
			changes := find(values, 5)
			Expect(find(scaled, 5)).To(Equal(changes))
			last := 0
			for _, c := range changes {
				Expect(c.At - last).To(BeNumerically(">=", 3))
				Expect(c.P).To(And(BeNumerically(">", 0), BeNumerically("<=", alpha)))
				last = c.At
			}
			Expect(len(values) - last).To(Or(BeNumerically(">=", 3), BeNumerically("==", len(values))))
		})
	})
})

func BenchmarkChangePoints(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, step := range map[string]float64{"stable": 0, "changed": 3} {
		values := series(r, noises["normal"], 100, 50, step)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				stat.ChangePoints{Alpha: 0.01, Seed: 1}.Find(values)
			}
		})
	}
}
