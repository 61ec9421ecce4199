package experiment_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/experiment/result"
	"github.com/rehearse-dev/rehearse/stat"
)

// truth is a world with what is promised of experiments in it.
type truth struct {
	name  string
	world experiment.World
	// effect is that of the second variant, in the measure of the world; 0 where all are
	// the same.
	effect float64
	// power is what the planner says; 0 where it says nothing.
	power float64
}

// designOf is a design with 60 trials, a smallest effect of interest, and looks.
func designOf(share bool, trials int, smallest float64, looks int, spending string, scope result.Scope) result.Design {
	return result.Design{
		Trials: trials, Alpha: 0.05, Power: 0.8, Looks: looks, Spending: spending, Scope: scope,
		Primary: result.Measure{Name: "m", Share: share, Better: result.Higher, Smallest: smallest},
	}
}

// coins are trials that pass with a probability of each variant, the same in all
// scenarios but for a difference of the scenario's own, of up to spread to either side.
func coins(spread float64, chance ...float64) func(*rand.Rand) func(v, s int) float64 {
	return func(r *rand.Rand) func(v, s int) float64 {
		own := map[int]float64{}
		return func(v, s int) float64 {
			if _, ok := own[s]; !ok {
				own[s] = spread * (2*r.Float64() - 1)
			}
			if r.Float64() < chance[v]+own[s] {
				return 1
			}
			return 0
		}
	}
}

// noisy are values of a distribution, with an effect of each variant added to them.
func noisy(draw func(*rand.Rand) float64, effect ...float64) func(*rand.Rand) func(v, s int) float64 {
	return func(r *rand.Rand) func(v, s int) float64 {
		return func(v, s int) float64 { return draw(r) + effect[v] }
	}
}

// alike are values with an effect of each variant, which is another one in each
// scenario: with a deviation around the effect.
func alike(deviation float64, effect ...float64) func(*rand.Rand) func(v, s int) float64 {
	return func(r *rand.Rand) func(v, s int) float64 {
		own := map[[2]int]float64{}
		return func(v, s int) float64 {
			if _, ok := own[[2]int{v, s}]; !ok {
				own[[2]int{v, s}] = effect[v] + deviation/math.Sqrt2*r.NormFloat64()
			}
			return own[[2]int{v, s}] + r.NormFloat64()
		}
	}
}

func normal(r *rand.Rand) float64 { return r.NormFloat64() }

func lognormal(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }

func outliers(r *rand.Rand) float64 {
	if r.Float64() < 0.05 {
		return 20 * r.NormFloat64()
	}
	return r.NormFloat64()
}

// twoOf are two variants in so many scenarios.
func twoOf(d result.Design, scenarios int, draw func(*rand.Rand) func(v, s int) float64) experiment.World {
	return experiment.World{Design: d, Variants: []string{"a", "b"}, Scenarios: scenarios, Draw: draw}
}

const (
	obf    = "obrien-fleming"
	pocock = "pocock"
)

// truths are those in which promises must be kept.
func truths() []truth {
	all := []truth{}
	for _, plan := range []struct {
		looks    int
		spending string
	}{{1, "none"}, {5, obf}, {5, pocock}, {20, pocock}} {
		add := func(name string, effect, power float64, w experiment.World) {
			if w.Design.Trials < plan.looks {
				return
			}
			w.Design.Looks, w.Design.Spending = plan.looks, plan.spending
			all = append(all, truth{name: fmt.Sprintf("%s, %d looks %s", name, plan.looks, plan.spending), world: w, effect: effect, power: power})
		}
		these := func(share bool, trials int, smallest float64) result.Design {
			return designOf(share, trials, smallest, 0, "", result.These)
		}
		sample := func(share bool, trials int, smallest float64) result.Design {
			return designOf(share, trials, smallest, 0, "", result.Alike)
		}
		for _, p := range []float64{0.5, 0.9, 0.98} {
			add(fmt.Sprintf("pass %g in one scenario", p), 0, 0, twoOf(these(true, 40, 0.1), 1, coins(0, p, p)))
			add(fmt.Sprintf("pass %g in 10 scenarios", p), 0, 0, twoOf(these(true, 20, 0.1), 10, coins(0.02, p, p)))
		}
		add("pass 0.5 in 20 scenarios, 3 trials", 0, 0, twoOf(these(true, 3, 0.1), 20, coins(0.3, 0.5, 0.5)))
		add("pass 0.5 in 20 scenarios, 5 trials", 0, 0, twoOf(these(true, 5, 0.1), 20, coins(0.4, 0.5, 0.5)))
		add("pass 0.8, worse by the smallest effect", -0.1, 0, twoOf(these(true, 60, 0.1), 5, coins(0, 0.9, 0.8)))
		add("pass 1, worse by the smallest effect", -0.1, 0, twoOf(these(true, 40, 0.1), 1, coins(0, 1, 0.9)))
		add("pass 0.5 in 12 scenarios that stand for others", 0, 0, twoOf(sample(true, 20, 0.1), 12, coins(0.4, 0.5, 0.5)))
		for name, draw := range map[string]func(*rand.Rand) float64{"normal": normal, "log-normal": lognormal, "outliers": outliers} {
			add(name+" in one scenario, 20 trials", 0, 0, twoOf(these(false, 20, 0.5), 1, noisy(draw, 0, 0)))
			add(name+" in 8 scenarios, 20 trials", 0, 0, twoOf(these(false, 20, 0.5), 8, noisy(draw, 0, 0)))
		}
		add("normal in 10 scenarios, 2 trials", 0, 0, twoOf(these(false, 2, 0.5), 10, noisy(normal, 0, 0)))
		add("normal in one scenario, 5 trials", 0, 0, twoOf(these(false, 5, 0.5), 1, noisy(normal, 0, 0)))
		add("normal, better by the smallest effect", 0.5, 0, twoOf(these(false, 20, 0.5), 4, noisy(normal, 0, 0.5)))
		add("normal in 12 scenarios that differ and stand for others", 0, 0, twoOf(sample(false, 20, 0.5), 12, alike(0.5, 0, 0)))
		add("normal in 12 scenarios that differ, better by the smallest effect", 0.5, 0, twoOf(sample(false, 20, 0.5), 12, alike(0.5, 0, 0.5)))
		add("normal, four variants, all pairs", 0, 0, experiment.World{
			Design: these(false, 20, 0.5), Variants: []string{"a", "b", "c", "d"}, Scenarios: 4, Draw: noisy(normal, 0, 0, 0, 0),
		})
		capped := twoOf(these(true, 60, 0.1), 3, coins(0, 0.7, 0.7))
		capped.Cut = func(r *rand.Rand) int { return 1 + r.IntN(59) }
		add("pass 0.7, ended by a cap at any time", 0, 0, capped)
	}
	return all
}

// rates are how often experiments said something that is not so.
type rates struct {
	n, alarms, wrong, equal, found, trials int
}

func (s *rates) add(t *truth, r *rand.Rand) {
	s.n++
	verdicts, trials := t.world.Run(r)
	s.trials += trials
	alarm, equal, wrong, found := false, false, false, false
	for _, verdict := range verdicts {
		differs := verdict == result.Better || verdict == result.Worse
		alarm = alarm || differs && t.effect == 0
		wrong = wrong || verdict == result.Better && t.effect < 0 || verdict == result.Worse && t.effect > 0
		equal = equal || verdict == result.Equivalent && math.Abs(t.effect) >= t.world.Design.Primary.Smallest
		found = found || differs && !wrong
	}
	s.alarms += one(alarm || wrong)
	s.wrong += one(wrong)
	s.equal += one(equal)
	s.found += one(found)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tooMany reports whether more were false than alpha allows, so many that chance would
// explain it once in two thousand times.
func tooMany(k, n int, alpha float64) bool {
	return stat.Proportion(k, n, 0.999).Interval.Lo > alpha
}

// simulated is how many experiments a benchmark makes of each kind at least.
const simulated = 2000

// BenchmarkFalseAlarms measures by simulation how often experiments call a variant
// better or worse that is not, and equivalent that is not. It fails where that is more
// than alpha allows.
func BenchmarkFalseAlarms(b *testing.B) {
	for _, t := range truths() {
		b.Run(strings.NewReplacer(" ", "_", ",", "").Replace(t.name), func(b *testing.B) {
			r := rand.New(rand.NewPCG(2026, 11))
			var s rates
			for b.Loop() {
				s.add(&t, r)
			}
			enough := simulated
			if testing.Short() { // that it runs; the figures are those of a whole one
				enough = simulated / 20
			}
			for s.n < enough {
				s.add(&t, r)
			}
			b.ReportMetric(float64(s.alarms)/float64(s.n), "false-alarms")
			b.ReportMetric(float64(s.equal)/float64(s.n), "false-equivalent")
			b.ReportMetric(float64(s.found)/float64(s.n), "found")
			b.ReportMetric(float64(s.trials)/float64(s.n), "trials")
			alpha := t.world.Design.Alpha
			if tooMany(s.alarms, s.n, alpha) || tooMany(s.equal, s.n, alpha) {
				b.Fatalf("of %d experiments %d raised a false alarm, and %d found equivalent what is not", s.n, s.alarms, s.equal)
			}
		})
	}
}

var _ = Describe("false alarms", Label("H-07"), func() {
	It("are seen where there are too many", func() {
		Expect(tooMany(45, 400, 0.05)).To(BeTrue())
		Expect(tooMany(20, 400, 0.05)).To(BeFalse())
	})
})
