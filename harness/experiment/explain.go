package experiment

import (
	"fmt"
	"math"

	"github.com/rehearse-dev/rehearse/harness/experiment/result"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/stat"
)

// explain tells what was held against each other, with all that a reader needs to judge
// it. Level is that of the look's tests, and 0 where there was no look; values are those
// that were compared.
func (d *decider) explain(all []held, level float64, values []table) []result.Comparison {
	out := make([]result.Comparison, len(all))
	for i := range all {
		out[i] = d.comparison(&all[i], level, values[all[i].at])
	}
	return out
}

func (d *decider) comparison(h *held, level float64, t table) result.Comparison {
	m := h.measure
	c := result.Comparison{
		Variant: d.variants[h.b], Against: d.variants[h.a], Measure: m.Name, Unit: m.Unit, Role: result.Primary, Verdict: h.verdict,
		Pairs: h.pairs, Missing: h.missing.pairs,
		P: h.p, Adjusted: h.adjusted, EquivalenceP: h.equalP, EquivalenceAdjusted: h.equalAdjust,
	}
	if h.at > 0 {
		c.Role = result.Secondary
	}
	d.sides(&c, h, t)
	c.Effect = valueOf(m, h.effect.Summary(1-level))
	switch in := c.Effect.Interval; {
	case level == 0:
		c.Effect.Interval = nil
	case in != nil:
		in.Level = 1 - d.design.Alpha // of all looks together
	}
	if b := c.Before.Value; b != nil && *b != 0 && c.Effect.Value != nil {
		relative := *c.Effect.Value / math.Abs(*b)
		c.Relative = &relative
	}
	if level > 0 && h.verdict == result.Undecided && h.p != nil {
		c.Needed = d.needed(&c, h)
	}
	if power := d.power(h); level > 0 && !math.IsNaN(power) {
		c.Power = &power
	}
	c.Why, c.Warnings = d.why(&c, h), d.warnings(&c, h)
	return c
}

// sides tells what either variant has, over the pairs.
func (d *decider) sides(c *result.Comparison, h *held, t table) {
	before, after := make([][]float64, len(d.scenarios)), make([][]float64, len(d.scenarios))
	for s, name := range d.scenarios {
		x, y := t[h.a][s], t[h.b][s]
		for n := range min(len(x), len(y)) {
			if !math.IsNaN(y[n] - x[n]) {
				before[s], after[s] = append(before[s], x[n]), append(after[s], y[n])
			}
		}
		if pairs := len(before[s]); pairs > 0 {
			c.Scenarios++
			c.ByScenario = append(c.ByScenario, result.ScenarioEffect{Scenario: name, Pairs: pairs, Before: mean(before[s]), After: mean(after[s])})
		}
	}
	c.Before, c.After = d.level(h.measure, before), d.level(h.measure, after)
}

// level is a mean of values with its interval, scenarios weighing the same.
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

// needed is how many trials, or scenarios, would decide; 0 where nothing is known about
// the spread.
func (d *decider) needed(c *result.Comparison, h *held) int {
	n := stat.Needed(h.effect.Summary(1-d.design.Alpha), h.measure.Smallest, h.family)
	if n == 0 || h.effect.Even() {
		return 0
	}
	n = max(n, d.least(h))
	if d.design.Scope == result.Alike {
		return n
	}
	return (n + c.Scenarios - 1) / c.Scenarios
}

// least is how many differences it takes for a p-value to become as small as it must,
// however large they are.
func (d *decider) least(h *held) int { return stat.LeastPairs(d.design.Alpha / float64(h.family)) }

// power is the probability to find the smallest effect of interest by the planned
// number of trials, if the spread is as it was seen. The comparison is taken for the
// first one of Holm's. It is NaN where nothing is known about the spread.
func (d *decider) power(h *held) float64 {
	e := h.effect
	if !(e.SE > 0) || e.Even() || h.measure.Smallest == 0 {
		return math.NaN()
	}
	planned := e.N
	if d.design.Scope == result.These {
		planned = d.design.Trials * len(d.scenarios)
	}
	if planned < d.least(h) {
		return 0
	}
	more := float64(planned) / float64(e.N)
	e.SE, e.N, e.DF = e.SE/math.Sqrt(more), planned, e.DF*more
	return d.powerOf(e, h.measure.Smallest, h.family)
}

// powerOf is the probability that one of so many comparisons finds an effect, if its
// estimate in the end is like e.
func (d *decider) powerOf(e stat.Effect, effect float64, family int) float64 {
	alpha := d.design.Alpha / float64(family)
	drift := stat.NormalDrift(effect/e.SE, e.DF, alpha)
	if e.Bound > 0 && !e.Sampled {
		drift = stat.ShareDrift(effect, e.SE, e.N, e.DF, alpha)
	}
	return d.planned.Power(alpha, drift)
}

func (d *decider) warnings(c *result.Comparison, h *held) []string {
	all := c.Effect.Warnings
	c.Effect.Warnings = nil
	if c.Missing > 0 {
		all = append(all, d.missing(c, h))
	}
	if c.Power != nil && *c.Power < d.design.Power-0.005 && c.Verdict == result.Undecided {
		all = append(all, fmt.Sprintf("with the spread that was seen, %d trials find the smallest effect of interest with a probability of %.0f %%, and %.0f %% is wanted",
			d.design.Trials, 100**c.Power, 100*d.design.Power))
	}
	if h.measure.Smallest == 0 {
		all = append(all, "no smallest effect of interest is given, so that nothing can be equivalent")
	}
	return all
}
