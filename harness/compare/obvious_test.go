package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/stat"
)

// process returns a scenario of a realistic command agent: random numbers of calls with
// proportional tokens and cost, times with independent noise, and constant counts.
// Everything that varies is multiplied by the factor.
func process(r *rand.Rand, name string, trials int, factor float64, calls func(*rand.Rand) float64) compare.Scenario {
	values := map[string][]float64{}
	add := func(name string, x float64) { values[name] = append(values[name], x) }
	for range trials {
		made, latency := factor*calls(r), factor*math.Exp(0.3*r.NormFloat64())
		used := 100 * made * math.Exp(0.1*r.NormFloat64())
		add("calls", made)
		add("tokens", used)
		add("cost_eur", used*1e-6*math.Exp(0.05*r.NormFloat64()))
		add("latency_mean", latency)
		add("latency_p95", latency*math.Exp(0.2*r.NormFloat64()))
		add("duration", made*latency/factor*math.Exp(0.1*r.NormFloat64()))
	}
	return real(name, trials, measured("calls", "", values["calls"]...), measured("cost_eur", "EUR", values["cost_eur"]...),
		measured("duration", "s", values["duration"]...), measured("failed_calls", "", 0), measured("iterations", "", 1),
		measured("latency_mean", "s", values["latency_mean"]...), measured("latency_p95", "s", values["latency_p95"]...),
		measured("retries", "", 0), measured("tokens", "", values["tokens"]...))
}

func few(r *rand.Rand) float64 { return 3 + float64(poisson(r, 2)) }

// geometric returns mostly 1, and more in four of ten cases.
func geometric(r *rand.Rand) float64 {
	n := 1.0
	for r.Float64() < 0.4 {
		n++
	}
	return n
}

// exits count how often a comparison of two runs passes, fails and has no verdict.
type exits struct{ green, red, none int }

func (e *exits) add(v gate.Verdict) {
	switch v {
	case gate.Pass:
		e.green++
	case gate.Fail:
		e.red++
	default:
		e.none++
	}
}

// twice compares two runs of some scenarios, all of which change by the factor.
func twice(r *rand.Rand, scenarios, trials int, factor float64, calls func(*rand.Rand) float64) compare.Result {
	before, after := run(), run()
	for i := range scenarios {
		name := fmt.Sprintf("s%02d", i)
		before.Scenarios = append(before.Scenarios, process(r, name, trials, 1, calls))
		after.Scenarios = append(after.Scenarios, process(r, name, trials, factor, calls))
	}
	return compare.Compare(before, after, compare.Options{})
}

func verdicts(r *rand.Rand, runs, scenarios, trials int, factor float64, calls func(*rand.Rand) float64) (e exits) {
	for range runs {
		e.add(twice(r, scenarios, trials, factor, calls).Verdict)
	}
	return e
}

// BenchmarkObvious measures how often a comparison passes, fails or has no verdict if
// everything is multiplied by four, and if nothing has changed. It fails if a change passes,
// or if false alarms exceed alpha.
func BenchmarkObvious(b *testing.B) {
	for name, calls := range map[string]func(*rand.Rand) float64{"few": few, "geometric": geometric} {
		for _, scenarios := range []int{1, 10} {
			for trials := 2; trials <= 12; trials++ {
				b.Run(fmt.Sprintf("%s/%d_scenarios_%d_trials", name, scenarios, trials), func(b *testing.B) {
					runs := 1000 / scenarios
					if testing.Short() {
						runs = 20
					}
					r := rand.New(rand.NewPCG(3, 4))
					var changed, same exits
					for b.Loop() {
						changed, same = verdicts(r, runs, scenarios, trials, 4, calls), verdicts(r, runs, scenarios, trials, 1, calls)
					}
					share := func(n int) float64 { return float64(n) / float64(runs) }
					b.ReportMetric(share(changed.red), "red")
					b.ReportMetric(share(changed.green), "missed")
					b.ReportMetric(share(same.red), "false-alarms")
					b.ReportMetric(share(same.none), "no-verdict-unchanged")
					if stat.Proportion(same.red, runs, 0.999).Interval.Lo > 0.05 {
						b.Fatalf("%+v without a difference", same)
					}
				})
			}
		}
	}
}

var _ = Describe("an obvious change", Label("H-06"), func() {
	It("fails or is undecided, but never passes", func() {
		for _, scenarios := range []int{1, 10} {
			for trials := 2; trials <= 12; trials++ {
				got := verdicts(rand.New(rand.NewPCG(3, 4)), 40/scenarios, scenarios, trials, 4, few)
				Expect(got.green).To(BeZero(), "%d scenarios, %d trials: %+v", scenarios, trials, got)
				if needed := map[int]int{1: 5, 10: 6}[scenarios]; trials >= needed {
					Expect(got.none).To(BeZero(), "%d scenarios, %d trials: %+v", scenarios, trials, got)
				}
			}
		}
	})
	It("is seldom reported if nothing has changed and there are enough trials", func() {
		for scenarios, trials := range map[int]int{1: 5, 10: 7} {
			got := verdicts(rand.New(rand.NewPCG(5, 6)), 200/scenarios, scenarios, trials, 1, few)
			Expect(got.red).To(BeNumerically("<=", 10), "%d scenarios: %+v", scenarios, got)
			Expect(got.none).To(BeNumerically("<=", 10), "%d scenarios: %+v", scenarios, got)
		}
	})
	It("is decided with the reported number of trials", func() {
		for _, scenarios := range []int{1, 10} {
			r := rand.New(rand.NewPCG(7, 8))
			side := twice(r, scenarios, 3, 4, few)
			Expect(side.Verdict).To(Equal(gate.Error))
			Expect(rules(side)).To(HaveEach("too-few-trials"))
			Expect(side.Findings[0].Measure).To(Equal("calls"))
			needed := map[int]int{1: 5, 10: 6}[scenarios]
			Expect(side.Findings[0].Message).To(HaveSuffix("at least %d trials are needed", needed))
			Expect(twice(r, scenarios, needed, 4, few).Verdict).To(Equal(gate.Fail))
		}
	})
	It("may be a change of the pass rate", func() {
		var before, after []compare.Scenario
		for i := range 8 { // so many tests that none of a single scenario can be significant
			name := fmt.Sprintf("s%d", i)
			before = append(before, judged(real(name, 0, measured("calls", "", 1)), 5, 0))
			after = append(after, judged(real(name, 0, measured("calls", "", 1)), 1, 4))
		}
		r := compare.Compare(run(before...), run(after...), compare.Options{})
		Expect(r.Verdict).To(Equal(gate.Error))
		Expect(rules(r)).To(HaveEach("too-few-trials"))
	})
	It("is not undecided if it is an improvement", func() {
		r := rand.New(rand.NewPCG(9, 10))
		Expect(twice(r, 1, 3, 0.25, few).Verdict).To(Equal(gate.Pass))
	})
	It("is not hidden by measures that are equal", func() {
		calls := func(values ...float64) compare.Measure { return measured("calls", "", values...) }
		r := one(real("a", 3, calls(1, 1, 2), measured("retries", "", 0)), real("a", 3, calls(5, 5, 6), measured("retries", "", 0)))
		Expect(r.Equal).To(Equal(3))
		Expect(r.Verdict).To(Equal(gate.Error))
	})
})

var _ = Describe("the number of trials needed", Label("H-06"), func() {
	It("is the least with which a comparison could fail", func() {
		r := rand.New(rand.NewPCG(1, 2))
		for scenarios, want := range map[int][]int{1: {5, 2}, 10: {6, 20}, 40: {7, 80}} {
			b := run()
			for i := range scenarios {
				b.Scenarios = append(b.Scenarios, process(r, fmt.Sprintf("s%02d", i), 4+i%2*4, 1, few))
			}
			trials, tests, short := compare.TrialsNeeded(&b, compare.DefaultRules())
			Expect([]int{trials, tests}).To(Equal(want))
			Expect(short).To(HaveLen((scenarios + 1) / 2))
		}
	})
	It("is 0 if everything repeats", func() {
		b := run(passed("a", 3, measured("calls", "", 1, 2, 3), measured("duration", "s", 1)))
		trials, tests, short := compare.TrialsNeeded(&b, compare.DefaultRules())
		Expect([]int{trials, tests, len(short)}).To(Equal([]int{0, 0, 0}))
	})
})
