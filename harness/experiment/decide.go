package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/experiment/result"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/stat"
)

// decider draws verdicts from the values of trials. It is pure: what it says depends on
// the design, the look and the values.
type decider struct {
	design    result.Design
	variants  []string
	scenarios []string
	pairs     []pair
	planned   *stat.Sequential
	looks     []int // trials of each variant in each scenario, by planned look
}

// pair are the indices of two variants: b is held against a.
type pair struct{ a, b int }

// table holds the values of one measure by variant, scenario and trial; NaN is unknown.
// Scenarios may have different numbers of trials, variants of one scenario not.
type table [][][]float64

func newDecider(design result.Design, variants, scenarios []string) *decider {
	d := &decider{design: design, variants: variants, scenarios: scenarios}
	for b := range variants {
		for a := range b {
			switch design.Against {
			case "", variants[a]:
				d.pairs = append(d.pairs, pair{a, b})
			case variants[b]:
				d.pairs = append(d.pairs, pair{b, a})
			}
		}
	}
	for k := 1; k <= design.Looks; k++ {
		d.looks = append(d.looks, int(math.Round(float64(design.Trials)*float64(k)/float64(design.Looks))))
	}
	d.looks = slices.Compact(slices.DeleteFunc(d.looks, func(n int) bool { return n == 0 }))
	d.planned = stat.NewSequential(stat.Spending(design.Spending), d.times(d.looks), true)
	return d
}

// times are looks as shares of the planned data.
func (d *decider) times(looks []int) []float64 {
	all := make([]float64, len(looks))
	for i, n := range looks {
		all[i] = float64(n) / float64(d.design.Trials)
	}
	return all
}

// cut is the plan of an experiment that ends after so many trials of each variant in
// each scenario, a share for a round that was begun, for a reason that has nothing to do
// with the differences: its last look spends what is left of alpha.
func (d *decider) cut(trials float64) (plan *stat.Sequential, look int) {
	share := min(1, trials/float64(d.design.Trials))
	var times []float64
	for _, t := range d.times(d.looks) {
		if t < share-1e-9 {
			times = append(times, t)
		}
	}
	return stat.NewSequential(stat.Spending(d.design.Spending), append(times, share), true), len(times)
}

// compare holds all pairs against each other, by the primary measure and then by the
// secondary ones, as the plan's look allows. Values are by measure, the primary first.
func (d *decider) compare(plan *stat.Sequential, look int, values []table) []result.Comparison {
	level := plan.Levels(d.design.Alpha)[look]
	measures := append([]result.Measure{d.design.Primary}, d.design.Secondary...)
	var all []result.Comparison
	var effects []stat.Effect
	for i, m := range measures {
		for _, p := range d.pairs {
			c, e := d.comparison(m, p, values[i], level)
			c.Role = result.Secondary
			if i == 0 {
				c.Role = result.Primary
			}
			d.test(plan, look, &c, e, m)
			all, effects = append(all, c), append(effects, e)
		}
	}
	for _, family := range [][]int{indices(0, len(d.pairs)), indices(len(d.pairs), len(all))} {
		holm(all, family, func(c *result.Comparison) (*float64, **float64) { return c.P, &c.Adjusted })
		holm(all, family, func(c *result.Comparison) (*float64, **float64) { return c.EquivalenceP, &c.EquivalenceAdjusted })
		for _, i := range family {
			d.decide(&all[i], effects[i], measures[i/len(d.pairs)], len(family))
		}
	}
	return all
}

func indices(from, to int) []int {
	all := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// comparison is what a pair shows by a measure, without any verdict.
func (d *decider) comparison(m result.Measure, p pair, t table, level float64) (result.Comparison, stat.Effect) {
	c := result.Comparison{
		Variant: d.variants[p.b], Against: d.variants[p.a], Measure: m.Name, Unit: m.Unit, Verdict: result.Undecided,
	}
	differences := make([][]float64, len(d.scenarios))
	before, after := make([][]float64, len(d.scenarios)), make([][]float64, len(d.scenarios))
	for s, name := range d.scenarios {
		x, y := t[p.a][s], t[p.b][s]
		for n := range min(len(x), len(y)) {
			if math.IsNaN(x[n]) || math.IsNaN(y[n]) {
				c.Missing++
				continue
			}
			differences[s] = append(differences[s], y[n]-x[n])
			before[s], after[s] = append(before[s], x[n]), append(after[s], y[n])
		}
		if pairs := len(differences[s]); pairs > 0 {
			c.Pairs += pairs
			c.Scenarios++
			c.ByScenario = append(c.ByScenario, result.ScenarioEffect{Scenario: name, Pairs: pairs, Before: mean(before[s]), After: mean(after[s])})
		}
	}
	e := d.estimate(differences, m)
	c.Before, c.After = d.level(m, before), d.level(m, after)
	c.Effect = valueOf(m, e.Summary(1-level))
	if c.Effect.Interval != nil {
		c.Effect.Interval.Level = 1 - d.design.Alpha // of all looks together
	}
	if b := c.Before.Value; b != nil && *b != 0 && c.Effect.Value != nil {
		relative := *c.Effect.Value / math.Abs(*b)
		c.Relative = &relative
	}
	return c, e
}

// estimate is the mean over the scenarios, or over all that are alike.
func (d *decider) estimate(groups [][]float64, m result.Measure) stat.Effect {
	bound := 0.0
	if m.Share {
		bound = 1
	}
	if d.design.Scope == result.Alike {
		return stat.Between(groups, bound)
	}
	return stat.Within(groups, bound)
}

// level is a mean of values with its interval.
func (d *decider) level(m result.Measure, groups [][]float64) measure.Value {
	v := valueOf(m, d.estimate(groups, m).Summary(stat.Level))
	if in := v.Interval; in != nil && m.Share {
		in.Lo = max(0, in.Lo)
	}
	return v
}

func mean(values []float64) float64 {
	var m stat.Moments
	for _, v := range values {
		m.Add(v)
	}
	return m.Mean(stat.Level).Value
}

func valueOf(m result.Measure, s stat.Summary) measure.Value {
	v := measure.Value{Name: m.Name, Unit: m.Unit, Known: s.N > 0, N: s.N, Interval: s.Interval, Warnings: s.Warnings}
	if s.N > 0 {
		v.Value = &s.Value
	}
	return v
}

// mostMissing is the share of pairs that may be missing where a verdict is drawn.
const mostMissing = 0.1

// tooMany reports whether more pairs are missing than the others can stand for: what is
// missing is not missing by chance.
func tooMany(c *result.Comparison) bool {
	return float64(c.Missing) > mostMissing*float64(c.Missing+c.Pairs)
}

// test makes the tests of a comparison.
func (d *decider) test(plan *stat.Sequential, look int, c *result.Comparison, e stat.Effect, m result.Measure) {
	if !e.Known() || tooMany(c) {
		return
	}
	p := plan.Adjust(look, e.P())
	c.P = &p
	if m.Smallest > 0 {
		// The plan is for two-sided tests, and this is two of one side.
		eq := plan.Adjust(look, min(1, 2*e.EquivalenceP(m.Smallest))) / 2
		c.EquivalenceP = &eq
		if power := d.power(e, m.Smallest); !math.IsNaN(power) {
			c.Power = &power
		}
	}
}

// power is the probability to find an effect by the planned number of trials, if the
// spread is as it was seen. The comparison is taken for the first one of Holm's.
func (d *decider) power(e stat.Effect, effect float64) float64 {
	if !(e.SE > 0) {
		return math.NaN()
	}
	planned := e.N
	if d.design.Scope == result.These {
		planned = d.design.Trials * len(d.scenarios)
	}
	more := float64(planned) / float64(e.N)
	se := e.SE / math.Sqrt(more)
	return powerOf(d.planned, d.design.Alpha/float64(len(d.pairs)), effect/se, e.DF*more)
}

// powerOf is that of a plan whose tests are Student's with these degrees of freedom.
func powerOf(plan *stat.Sequential, alpha, drift, df float64) float64 {
	return plan.Power(alpha, stat.NormalDrift(drift, df, alpha))
}

// holm adjusts the p-values of a family of comparisons.
func holm(all []result.Comparison, family []int, of func(*result.Comparison) (p *float64, adjusted **float64)) {
	var values []float64
	for _, i := range family {
		p, _ := of(&all[i])
		if p == nil {
			values = append(values, 1) // it was planned, so that it counts
		} else {
			values = append(values, *p)
		}
	}
	for n, adjusted := range stat.Holm(values) {
		if p, into := of(&all[family[n]]); p != nil {
			*into = &adjusted
		}
	}
}

// decide draws the verdict of a comparison in a family of so many.
func (d *decider) decide(c *result.Comparison, e stat.Effect, m result.Measure, family int) {
	alpha := d.design.Alpha
	switch {
	case c.EquivalenceAdjusted != nil && *c.EquivalenceAdjusted <= alpha:
		c.Verdict = result.Equivalent
	case c.Adjusted != nil && *c.Adjusted <= alpha:
		c.Verdict = result.Worse
		if (e.Value > 0) == (m.Better == result.Higher) {
			c.Verdict = result.Better
		}
	case c.P != nil:
		c.Needed = d.needed(c, e, m, family)
	}
	c.Why, c.Warnings = d.why(c, m, family), d.warnings(c, m)
}

// needed is how many trials, or scenarios, would decide.
func (d *decider) needed(c *result.Comparison, e stat.Effect, m result.Measure, family int) int {
	n := stat.Needed(e.Summary(1-d.design.Alpha), m.Smallest, family)
	if n == 0 || d.design.Scope == result.Alike {
		return n
	}
	return (n + c.Scenarios - 1) / c.Scenarios
}

func (d *decider) warnings(c *result.Comparison, m result.Measure) []string {
	all := c.Effect.Warnings
	c.Effect.Warnings = nil
	if c.Missing > 0 {
		all = append(all, fmt.Sprintf("%d of %d pairs are missing: a value of theirs is unknown", c.Missing, c.Missing+c.Pairs))
	}
	if c.Power != nil && *c.Power < d.design.Power-0.005 && c.Verdict == result.Undecided {
		all = append(all, fmt.Sprintf("with the spread that was seen, %d trials find the smallest effect of interest with a probability of %.0f %%, and %.0f %% is wanted",
			d.design.Trials, 100**c.Power, 100*d.design.Power))
	}
	if m.Smallest == 0 {
		all = append(all, "no smallest effect of interest is given, so that nothing can be equivalent")
	}
	return all
}

// decided reports how many comparisons by the primary measure have a verdict.
func decided(all []result.Comparison) (done, of int) {
	for i := range all {
		if all[i].Role != result.Primary {
			continue
		}
		if of++; all[i].Verdict != result.Undecided {
			done++
		}
	}
	return done, of
}
