package experiment_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/stat"
)

// truth is a world with its true effect.
type truth struct {
	name  string
	world experiment.World
	// effect is that of the second variant, in the measure of the world; 0 if all are equal.
	effect float64
}

// designOf returns a design with one look.
func designOf(share bool, trials int, smallest float64, scope result.Scope) result.Design {
	return result.Design{
		Trials: trials, Alpha: 0.05, Power: 0.8, Looks: 1, Spending: "none", Scope: scope,
		Primary: result.Measure{Name: "m", Share: share, Better: result.Higher, Smallest: smallest},
	}
}

// ranged returns a design whose primary measure has a declared range.
func ranged(d result.Design, least, greatest float64) result.Design {
	d.Primary.Range = []float64{least, greatest}
	return d
}

// coins draws trials that pass with a probability of each variant. A scenario changes the
// probabilities by up to spread in either direction.
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

// noisy draws values of a distribution and adds the effect of each variant.
func noisy(draw func(*rand.Rand) float64, effect ...float64) func(*rand.Rand) func(v, s int) float64 {
	return func(r *rand.Rand) func(v, s int) float64 {
		return func(v, s int) float64 { return draw(r) + effect[v] }
	}
}

// alike draws values with an effect of each variant that varies between scenarios, with a
// standard deviation.
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

// some draws trials that pass with a probability, except for a share of scenarios in which
// the second variant never passes.
func some(share, chance float64) func(*rand.Rand) func(v, s int) float64 {
	return func(r *rand.Rand) func(v, s int) float64 {
		bad := map[int]bool{}
		return func(v, s int) float64 {
			if _, ok := bad[s]; !ok {
				bad[s] = r.Float64() < share
			}
			if v == 1 && bad[s] || r.Float64() >= chance {
				return 0
			}
			return 1
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

// counts draws 3 for both variants, except for a share of the second one's trials, which
// need more. The mean difference is share * more.
func counts(share, more float64) func(*rand.Rand) func(v, s int) float64 {
	return func(r *rand.Rand) func(v, s int) float64 {
		return func(v, _ int) float64 {
			if v == 1 && r.Float64() < share {
				return 3 + more
			}
			return 3
		}
	}
}

// twoOf returns two variants in n scenarios.
func twoOf(d result.Design, scenarios int, draw func(*rand.Rand) func(v, s int) float64) experiment.World {
	return experiment.World{Design: d, Variants: []string{"a", "b"}, Scenarios: scenarios, Draw: draw}
}

const (
	obf    = "obrien-fleming"
	pocock = "pocock"
)

// plans are the plans of interim analyses.
var plans = []struct {
	looks    int
	spending string
}{{1, "none"}, {5, obf}, {5, pocock}, {20, pocock}}

// worlds are the worlds in which false alarms must be at most alpha, with one look.
func worlds() []truth {
	designed := func(scope result.Scope) func(share bool, trials int, smallest float64) result.Design {
		return func(share bool, trials int, smallest float64) result.Design {
			d := designOf(share, trials, smallest, scope)
			if !share { // so that equivalence is tested; no narrower than what is drawn
				d = ranged(d, -6, 6)
			}
			return d
		}
	}
	these, sample := designed(result.These), designed(result.Alike)
	capped := twoOf(these(true, 60, 0.1), 3, coins(0, 0.7, 0.7))
	capped.Cut = func(r *rand.Rand) int { return 1 + r.IntN(59) }
	return []truth{
		{"pass 0.5 in one scenario, 40 trials", twoOf(these(true, 40, 0.1), 1, coins(0, 0.5, 0.5)), 0},
		{"pass 0.9 in 10 scenarios, 20 trials", twoOf(these(true, 20, 0.1), 10, coins(0.1, 0.9, 0.9)), 0},
		{"pass 0.98 in 10 scenarios, 20 trials", twoOf(these(true, 20, 0.1), 10, coins(0.02, 0.98, 0.98)), 0},
		{"pass 0.5 in 20 scenarios that differ, 5 trials", twoOf(these(true, 5, 0.1), 20, coins(0.4, 0.5, 0.5)), 0},
		{"pass 0.9, worse by the smallest effect", twoOf(these(true, 60, 0.1), 5, coins(0, 0.9, 0.8)), -0.1},
		{"pass 1, worse by the smallest effect", twoOf(these(true, 40, 0.1), 1, coins(0, 1, 0.9)), -0.1},
		{"pass 0.5 in 12 scenarios that stand for others, 20 trials", twoOf(sample(true, 20, 0.1), 12, coins(0.4, 0.5, 0.5)), 0},
		{"pass 0.97 in 12 scenarios that stand for others, 10 trials", twoOf(sample(true, 10, 0.1), 12, coins(0.03, 0.97, 0.97)), 0},
		{"pass 0.95 in 30 scenarios, of which one in ten is worse", twoOf(sample(true, 10, 0.095), 30, some(0.1, 0.95)), -0.095},
		{"normal in one scenario, 20 trials", twoOf(these(false, 20, 0.5), 1, noisy(normal, 0, 0)), 0},
		{"normal in 10 scenarios, 5 trials", twoOf(these(false, 5, 0.5), 10, noisy(normal, 0, 0)), 0},
		{"log-normal in one scenario, 20 trials", twoOf(ranged(these(false, 20, 0.5), 0, 200), 1, noisy(lognormal, 0, 0)), 0},
		{"outliers in 8 scenarios, 20 trials", twoOf(ranged(these(false, 20, 0.5), -120, 120), 8, noisy(outliers, 0, 0)), 0},
		{"normal in 4 scenarios, better by the smallest effect", twoOf(these(false, 20, 0.5), 4, noisy(normal, 0, 0.5)), 0.5},
		{"normal in 12 scenarios that differ and stand for others", twoOf(sample(false, 20, 0.5), 12, alike(0.5, 0, 0)), 0},
		{"normal in 12 that stand for others, better by the smallest effect", twoOf(sample(false, 20, 0.5), 12, alike(0.5, 0, 0.5)), 0.5},
		{"normal, four variants, all pairs", experiment.World{
			Design: these(false, 20, 0.5), Variants: []string{"a", "b", "c", "d"}, Scenarios: 4, Draw: noisy(normal, 0, 0, 0, 0),
		}, 0},
		{"a count that is rarely far out, 20 trials", twoOf(ranged(these(false, 20, 2), 0, 43), 1, counts(0.05, 40)), 2},
		{"a count that is rarely far out, 150 trials", twoOf(ranged(these(false, 150, 2), 0, 43), 1, counts(0.05, 40)), 2},
		{"a count that is rarely far out, 5 scenarios, 40 trials", twoOf(ranged(these(false, 40, 2), 0, 43), 5, counts(0.05, 40)), 2},
		{"pass 0.7, ended by a cap at any time", capped, 0},
	}
}

// truths are the worlds under every plan; under the last one, some of them.
func truths() []truth {
	var all []truth
	for i, plan := range plans {
		for n, t := range append(worlds(), rareWorlds()...) {
			if i == len(plans)-1 && n%5 != 0 || t.world.Design.Trials < plan.looks {
				continue
			}
			t.world.Design.Looks, t.world.Design.Spending = plan.looks, plan.spending
			t.name = fmt.Sprintf("%s, %d looks %s", t.name, plan.looks, plan.spending)
			all = append(all, t)
		}
	}
	return all
}

// rates count the false verdicts of experiments.
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

// tooMany reports whether more were false than alpha allows, with a probability of chance
// below 1 in 2,000.
func tooMany(k, n int, alpha float64) bool {
	return stat.Proportion(k, n, 0.999).Interval.Lo > alpha
}

// simulated is the minimal number of experiments of each kind in a benchmark.
const simulated = 2000

// enough returns the number of experiments.
func enough() int {
	if testing.Short() { // only checks that it runs
		return simulated / 20
	}
	return simulated
}

func title(text string) string { return strings.NewReplacer(" ", "_", ",", "").Replace(text) }

// BenchmarkFalseAlarms measures by simulation how often experiments falsely call a variant
// better, worse or equivalent. It fails if that exceeds alpha.
func BenchmarkFalseAlarms(b *testing.B) {
	for _, t := range truths() {
		b.Run(title(t.name), func(b *testing.B) {
			r := rand.New(rand.NewPCG(2026, 11))
			var s rates
			for b.Loop() {
				s.add(&t, r)
			}
			for s.n < enough() {
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

// planned is a world with the planned number of trials.
type planned struct {
	truth
	// pairs is the number that one look needs for power 0.8 at level 0.05.
	pairs int
}

// powers are worlds of each kind of measure, with the planned number of trials.
func powers() []planned {
	// Two independent shares, and the standard deviation of their difference.
	p, q := 0.5, 0.7
	deviation := math.Sqrt(p*(1-p) + q*(1-q))
	const scenarios = 4
	return []planned{
		{truth{"pass 0.5 to 0.7", twoOf(designOf(true, 0, q-p, result.These), scenarios, coins(0, p, q)), q - p}, stat.ShareNeeded(q-p, deviation, 0.05, 0.8)},
		{truth{"normal, 0.4 deviations", twoOf(designOf(false, 0, 0.4, result.These), scenarios, noisy(normal, 0, 0.4)), 0.4}, 101},
		{truth{"normal, 1 deviation", twoOf(designOf(false, 0, 1, result.These), scenarios, noisy(normal, 0, 1)), 1}, 18},
	}
}

// withPlan returns the world with a plan of looks and the trials that it needs.
func (p planned) withPlan(looks int, spending string) truth {
	t := p.truth
	t.name = fmt.Sprintf("%s, %d looks %s", t.name, looks, spending)
	pairs := float64(p.pairs)
	if looks > 1 {
		times := make([]float64, looks)
		for i := range times {
			times[i] = float64(i+1) / float64(looks)
		}
		pairs *= stat.NewSequential(stat.Spending(spending), times).Inflation(0.05, 0.8)
	}
	t.world.Design.Trials = int(math.Ceil(pairs / float64(t.world.Scenarios)))
	t.world.Design.Looks, t.world.Design.Spending = looks, spending
	return t
}

// tolerance is the accepted difference from the planned power: looks and trials are rounded
// to whole trials.
const tolerance = 0.03

// BenchmarkPower measures by simulation how often experiments find an effect for which a
// power of 0.8 was planned. It fails if they find it less often.
func BenchmarkPower(b *testing.B) {
	for _, p := range powers() {
		for _, plan := range plans[:3] {
			t := p.withPlan(plan.looks, plan.spending)
			t.world.Design.Primary.Smallest = 0 // so that none ends as equivalent
			b.Run(title(t.name), func(b *testing.B) {
				r := rand.New(rand.NewPCG(2026, 12))
				var s rates
				for b.Loop() {
					s.add(&t, r)
				}
				for s.n < enough() {
					s.add(&t, r)
				}
				b.ReportMetric(float64(s.found)/float64(s.n), "power")
				b.ReportMetric(float64(t.world.Design.Trials), "planned-trials")
				b.ReportMetric(float64(s.trials)/float64(s.n), "trials")
				in := stat.Proportion(s.found, s.n, 0.999).Interval
				if in.Hi < 0.8-tolerance || in.Lo > 0.8+2*tolerance {
					b.Fatalf("%d of %d experiments found what 80 %% of them should", s.found, s.n)
				}
			})
		}
	}
}
