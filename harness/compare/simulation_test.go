package compare_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/stat"
)

// world simulates runs that are known to differ or not.
type world struct {
	name string
	// scenarios and trials are the numbers in each run.
	scenarios, trials int
	// draw draws a scenario; changed makes something in it worse.
	draw func(r *rand.Rand, name string, trials int, changed bool) compare.Scenario
}

// timed returns a world of scenarios with one measure, which a change multiplies by a factor.
func timed(name string, trials int, factor float64, draw func(r *rand.Rand) float64) world {
	return world{name: name, scenarios: 1, trials: trials, draw: func(r *rand.Rand, name string, n int, changed bool) compare.Scenario {
		values := make([]float64, n)
		for i := range values {
			if values[i] = draw(r); changed {
				values[i] *= factor
			}
		}
		return real(name, n, measured("calls", "", 1), measured("duration", "s", values...))
	}}
}

// counted returns a world of scenarios with a count that is drawn with a parameter.
func counted(name string, trials int, before, after float64, draw func(r *rand.Rand, p float64) float64) world {
	return world{name: name, scenarios: 1, trials: trials, draw: func(r *rand.Rand, name string, n int, changed bool) compare.Scenario {
		p := before
		if changed {
			p = after
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = draw(r, p)
		}
		return real(name, n, measured("iterations", "", 1), measured("calls", "", values...))
	}}
}

// flaky returns a world of scenarios that pass with a probability.
func flaky(name string, trials int, before, after float64) world {
	return world{name: name, scenarios: 1, trials: trials, draw: func(r *rand.Rand, name string, n int, changed bool) compare.Scenario {
		p, pass := before, 0
		if changed {
			p = after
		}
		for range n {
			if r.Float64() < p {
				pass++
			}
		}
		return judged(real(name, 0, measured("calls", "", 1)), pass, n-pass)
	}}
}

// guarded returns a world of a stop guard that errs with a probability on answers, every third
// of which defers.
func guarded(name string, answers int, before, after float64) world {
	return world{name: name, scenarios: 1, trials: 1, draw: func(r *rand.Rand, name string, n int, changed bool) compare.Scenario {
		p := before
		if changed {
			p = after
		}
		s := passed(name, n, measured("calls", "", 1))
		s.Stops = stops(r, answers, p)
		return s
	}}
}

func stops(r *rand.Rand, answers int, err float64) string {
	var text strings.Builder
	for i := range answers {
		letters := "Np"
		if i%3 == 0 {
			letters = "Pn"
		}
		wrong := 0
		if r.Float64() < err {
			wrong = 1
		}
		text.WriteByte(letters[wrong])
	}
	return text.String()
}

// agent returns a scenario of a realistic agent: noisy counts with proportional cost and times,
// some failures, labelled answers. A change makes it twice as slow.
func agent(r *rand.Rand, name string, n int, changed bool) compare.Scenario {
	var calls, cost, duration, latency []float64
	pass := 0
	for range n {
		made := 3 + float64(poisson(r, 2))
		mean := 4 * math.Exp(0.5*r.NormFloat64())
		if changed {
			mean *= 2
		}
		calls, cost = append(calls, made), append(cost, 0.01*made*math.Exp(0.1*r.NormFloat64()))
		duration, latency = append(duration, made*mean), append(latency, mean*math.Exp(0.3*r.NormFloat64()))
		if r.Float64() < 0.9 {
			pass++
		}
	}
	s := judged(real(name, 0, measured("calls", "", calls...), measured("cost_eur", "EUR", cost...),
		measured("duration", "s", duration...), measured("iterations", "", 1), measured("latency_p95", "s", latency...)), pass, n-pass)
	s.Stops = stops(r, 3, 0.1)
	return s
}

func poisson(r *rand.Rand, mean float64) int {
	n, left := 0, math.Exp(-mean)
	for p := r.Float64(); p > left; p *= r.Float64() {
		n++
	}
	return n
}

func lognormal(r *rand.Rand) float64 { return 5 * math.Exp(r.NormFloat64()) }

func counts(r *rand.Rand, mean float64) float64 { return float64(poisson(r, mean)) }

func coin(r *rand.Rand, p float64) float64 {
	if r.Float64() < p {
		return 6
	}
	return 5
}

// worlds are the worlds in which the rate of false alarms must be at most alpha.
var worlds = []world{
	timed("normal, 20 trials, 10 % slower", 20, 1.1, func(r *rand.Rand) float64 { return 100 + 10*r.NormFloat64() }),
	timed("normal, 6 trials, 30 % slower", 6, 1.3, func(r *rand.Rand) float64 { return 100 + 10*r.NormFloat64() }),
	timed("normal, 7 trials, 30 % slower", 7, 1.3, func(r *rand.Rand) float64 { return 100 + 10*r.NormFloat64() }),
	timed("log-normal, 20 trials, twice as slow", 20, 2, lognormal),
	timed("log-normal, 100 trials, 50 % slower", 100, 1.5, lognormal),
	timed("Cauchy, 30 trials, twice as slow", 30, 2, func(r *rand.Rand) float64 { return 100 + 10*r.NormFloat64()/r.NormFloat64() }),
	timed("three values, 20 trials, twice as slow", 20, 2, func(r *rand.Rand) float64 { return float64(1 + r.IntN(3)) }),
	counted("Poisson counts, 20 trials, 3 to 5", 20, 3, 5, counts),
	counted("rare counts, 30 trials, 0.1 to 0.6", 30, 0.1, 0.6, counts),
	counted("one of two counts, 3 trials", 3, 0.5, 1, coin),
	counted("one of two counts, 40 trials, 0.2 to 0.6", 40, 0.2, 0.6, coin),
	flaky("pass rate, 3 trials, 0.5 to 0", 3, 0.5, 0),
	flaky("pass rate, 10 trials, 0.9 to 0.3", 10, 0.9, 0.3),
	flaky("pass rate, 20 trials, 0.8 to 0.3", 20, 0.8, 0.3),
	flaky("pass rate, 100 trials, 0.95 to 0.8", 100, 0.95, 0.8),
	guarded("stop guard, 60 answers, errors 0.1 to 0.3", 60, 0.1, 0.3),
	{name: "20 agents, 20 trials, one twice as slow", scenarios: 20, trials: 20, draw: agent},
	{name: "5 agents, 50 trials, one twice as slow", scenarios: 5, trials: 50, draw: agent},
	{name: "30 flaky scenarios, 5 trials, one of 0.9 to 0", scenarios: 30, trials: 5, draw: flaky("", 0, 0.9, 0).draw},
}

// simulate compares two runs and reports whether anything is called worse, or better. If
// changed is true, the first scenario of the second run is changed.
func (w world) simulate(r *rand.Rand, changed bool) (worse, better bool) {
	before, after := run(), run()
	for i := range w.scenarios {
		name := string(rune('A' + i))
		before.Scenarios = append(before.Scenarios, w.draw(r, name, w.trials, false))
		after.Scenarios = append(after.Scenarios, w.draw(r, name, w.trials, changed && i == 0))
	}
	for _, c := range compare.Compare(before, after, compare.Options{Resamples: 100}).Comparisons {
		worse = worse || c.Verdict == compare.Worse
		better = better || c.Verdict == compare.Better
	}
	return worse, better
}

// rates returns the share of comparisons with a false alarm without a change, and the share
// that found a change.
type rates struct{ n, alarms, found int }

func (s *rates) add(w world, r *rand.Rand) {
	s.n++
	if worse, better := w.simulate(r, false); worse || better {
		s.alarms++
	}
	if worse, _ := w.simulate(r, true); worse {
		s.found++
	}
}

// tooMany reports whether more false alarms were raised than alpha allows, with a probability
// of chance below 1 in 2,000.
func (s *rates) tooMany() bool {
	return stat.Proportion(s.alarms, s.n, 0.999).Interval.Lo > compare.DefaultRules().Alpha
}

// simulated is the minimal number of comparisons of each kind in a benchmark.
const simulated = 10_000

// BenchmarkSimulation measures by simulation how often a comparison of runs without a
// difference calls something worse or better, and how often it finds a real difference. It
// fails if the false alarms exceed alpha.
func BenchmarkSimulation(b *testing.B) {
	for _, w := range worlds {
		b.Run(strings.NewReplacer(" ", "_", ",", "").Replace(w.name), func(b *testing.B) {
			r := rand.New(rand.NewPCG(2026, 11))
			var s rates
			for b.Loop() {
				s.add(w, r)
			}
			enough := simulated
			if testing.Short() { // only checks that it runs
				enough = simulated / 20
			}
			for s.n < enough {
				s.add(w, r)
			}
			b.ReportMetric(float64(s.alarms)/float64(s.n), "false-alarms")
			b.ReportMetric(float64(s.found)/float64(s.n), "power")
			if s.tooMany() {
				b.Fatalf("%d of %d comparisons without a difference raised an alarm", s.alarms, s.n)
			}
		})
	}
}

var _ = Describe("false alarms", Label("H-06"), func() {
	for _, w := range worlds {
		It("are at most alpha, and changes are found: "+w.name, func() {
			r := rand.New(rand.NewPCG(1, 2))
			var s rates
			for range 400 / w.scenarios {
				s.add(w, r)
			}
			Expect(s.tooMany()).To(BeFalse(), "%+v", s)
			Expect(s.found).To(BeNumerically(">", 2*s.alarms), "%+v", s)
		})
	}
	It("are detected if there are too many", func() {
		Expect((&rates{n: 400, alarms: 45}).tooMany()).To(BeTrue())
	})
})
