package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/stat"
)

// loadedRuns compares two unchanged runs on a machine whose load is an autoregressive
// process of order 1 with this correlation, and reports whether anything differs.
func loadedRuns(r *rand.Rand, scenarios, trials int, rho float64) bool {
	before, after := run(), run()
	for i := range scenarios {
		for _, side := range []*[]compare.Scenario{&before.Scenarios, &after.Scenarios} {
			load := r.NormFloat64()
			var duration, latency, p95 []float64
			for range trials {
				load = rho*load + math.Sqrt(1-rho*rho)*r.NormFloat64()
				mean := math.Exp(0.3 * load)
				duration, latency = append(duration, 3*mean*math.Exp(0.03*r.NormFloat64())), append(latency, mean)
				p95 = append(p95, mean*math.Exp(0.1*r.NormFloat64()))
			}
			*side = append(*side, real(fmt.Sprintf("s%02d", i), trials, measured("calls", "", 3), measured("duration", "s", duration...),
				measured("latency_mean", "s", latency...), measured("latency_p95", "s", p95...)))
		}
	}
	for _, c := range compare.Compare(before, after, compare.Options{}).Comparisons {
		if c.Verdict == compare.Worse || c.Verdict == compare.Better {
			return true
		}
	}
	return false
}

func loadAlarms(r *rand.Rand, runs, scenarios, trials int, rho float64) (alarms int) {
	for range runs {
		if loadedRuns(r, scenarios, trials, rho) {
			alarms++
		}
	}
	return alarms
}

// BenchmarkLoad measures how often times of unchanged runs are called worse or better if the
// load of the machine changes slowly. It fails if that exceeds alpha for up to two scenarios
// or a correlation of up to 0.5.
func BenchmarkLoad(b *testing.B) {
	for _, scenarios := range []int{1, 2, 10} {
		for _, trials := range []int{5, 8, 20, 50} {
			for _, rho := range []float64{0, 0.5, 0.9} {
				b.Run(fmt.Sprintf("%d_scenarios_%d_trials_rho_%g", scenarios, trials, rho), func(b *testing.B) {
					r, runs, alarms := rand.New(rand.NewPCG(11, 12)), 2000/scenarios, 0
					if testing.Short() {
						runs = 50
					}
					for b.Loop() {
						alarms = loadAlarms(r, runs, scenarios, trials, rho)
					}
					b.ReportMetric(float64(alarms)/float64(runs), "false-alarms")
					if stat.Proportion(alarms, runs, 0.999).Interval.Lo > 0.05 && (scenarios <= 2 || rho <= 0.5) {
						b.Fatalf("%d of %d comparisons without a difference raised an alarm", alarms, runs)
					}
				})
			}
		}
	}
}

var _ = Describe("the load of the machine", Label("H-06"), func() {
	DescribeTable("is not mistaken for a change",
		func(scenarios, trials int, rho float64) {
			alarms := loadAlarms(rand.New(rand.NewPCG(13, 14)), 400/scenarios, scenarios, trials, rho)
			Expect(stat.Proportion(alarms, 400/scenarios, 0.999).Interval.Lo).To(BeNumerically("<=", 0.05), "%d alarms", alarms)
		},
		Entry("few correlated trials", 1, 8, 0.5),
		Entry("few highly correlated trials", 1, 8, 0.9),
		Entry("twenty trials", 1, 20, 0.5),
		Entry("twenty highly correlated trials", 1, 20, 0.9),
		Entry("two scenarios", 2, 8, 0.9),
		Entry("ten scenarios", 10, 8, 0.5),
	)
	It("is reported if it can explain a significant difference", func() {
		c := of(one(real("a", 20, measured("calls", "", 1), measured("duration", "s", around(10, 20, 3)...)),
			real("a", 20, measured("calls", "", 1), measured("duration", "s", around(10.7, 20, 7)...))), "duration")
		Expect(*c.Adjusted).To(BeNumerically("<", 0.05))
		Expect(c.Verdict).To(Equal(compare.Insufficient))
		Expect(c.Why).To(MatchRegexp(`; a change of the machine's load can explain a factor of up to 1\.\d+$`))
	})
	It("can explain any difference of a single trial", func() {
		r := one(real("a", 1, measured("calls", "", 1), measured("duration", "s", 1)), real("a", 1, measured("calls", "", 1), measured("duration", "s", 900)))
		Expect(of(r, "duration").Verdict).To(Equal(compare.Insufficient))
		Expect(rules(r)).To(BeEmpty())
	})
})
