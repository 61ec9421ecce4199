package experiment

import (
	"fmt"
	"math"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/stat"
)

// explain describes a comparison with everything that a reader needs to judge it. level is that of
// the look's tests, and 0 without a look; values are the compared values.
func (d *decider) explain(all []comparison, level float64, values []table) []result.Comparison {
	out := make([]result.Comparison, len(all))
	for i := range all {
		out[i] = d.explainOne(&all[i], level, values[all[i].at])
	}
	return out
}

func (d *decider) explainOne(h *comparison, level float64, t table) result.Comparison {
	m := h.measure
	c := result.Comparison{
		Variant: d.variants[h.b], Against: d.variants[h.a], Measure: m.Name, Unit: m.Unit, Role: result.Primary, Verdict: h.verdict,
		Pairs: h.pairs, Missing: h.missing.pairs,
		P: h.p, Adjusted: h.adjusted, EquivalenceP: h.equalP, EquivalenceAdjusted: h.equalAdjust,
		NotWorseP: h.notWorseP, NotWorseAdjusted: h.notWorse,
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
	if level > 0 && h.verdict == result.Undecided && h.pairs > 0 && !h.tooMany() {
		c.Needed = d.needed(&c, h)
		if h.measure.Smallest > 0 && !c.NotWorse(d.design.Alpha) {
			c.NeededNotWorse = d.enough(&c, h, h.noninferiority, h.effect, h.least, h.most)
		}
	}
	if power := d.power(h); level > 0 && !math.IsNaN(power) {
		c.Power = &power
	}
	c.Why, c.Warnings = d.why(&c, h), d.warnings(&c, h)
	return c
}

// sides returns the means of both variants over the pairs.
func (d *decider) sides(c *result.Comparison, h *comparison, t table) {
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
			c.ByScenario = append(c.ByScenario, result.ScenarioEffect{
				Scenario: name, Pairs: pairs, Before: stat.Mean(before[s]), After: stat.Mean(after[s]),
			})
		}
	}
	c.Before, c.After = d.level(h.measure, before), d.level(h.measure, after)
}

// level returns the mean of values with its interval, with equal weights for all scenarios.
func (d *decider) level(m result.Measure, groups [][]float64) measure.Value {
	if m.Share && d.design.Scope == result.These {
		return valueOf(m, stat.MeanShare(groups, stat.Level))
	}
	v := valueOf(m, d.estimate(groups, m).Summary(stat.Level))
	if in := v.Interval; in != nil && m.Share {
		in.Lo = max(0, in.Lo)
	}
	return v
}

func valueOf(m result.Measure, s stat.Summary) measure.Value {
	v := measure.Value{Name: m.Name, Unit: m.Unit, Known: s.N > 0, N: s.N, Interval: s.Interval, Warnings: s.Warnings}
	if s.N > 0 {
		v.Value = &s.Value
	}
	return v
}

// needed returns how many trials, or scenarios, would decide with the same means and spread; 0 if
// no such number is known.
func (d *decider) needed(c *result.Comparison, h *comparison) int {
	different, equal := 0, 0
	if !h.effect.Even() {
		different = d.enough(c, h, stat.Effect.P, h.effect)
	}
	if h.measure.Smallest > 0 {
		equal = d.enough(c, h, h.equivalence, h.effect, h.least, h.most)
	}
	if different == 0 || equal > 0 && equal < different {
		return equal
	}
	return different
}

// enough returns how many trials, or scenarios, make a p-value of all these effects small enough
// for the first of Holm's comparisons; 0 if no number does.
func (d *decider) enough(c *result.Comparison, h *comparison, p func(stat.Effect) float64, effects ...stat.Effect) int {
	most := 0
	for _, e := range effects {
		if h.measure.Share && e.N > 0 && !e.Known() { // repeating a single pair would show no spread
			e.SE, e.DF = 0, 1
		}
		n := e.Needed(d.design.Alpha/float64(h.family), p)
		if n == 0 {
			return 0
		}
		most = max(most, n)
	}
	if d.design.Scope == result.Alike {
		return most
	}
	return (most + c.Scenarios - 1) / c.Scenarios
}

// least returns how many differences a p-value needs to become small enough, however large they
// are.
func (d *decider) least(h *comparison) int {
	return stat.LeastPairs(d.design.Alpha / float64(h.family))
}

// power returns the probability of finding the smallest effect of interest with the planned number
// of trials and the observed spread, for the first of Holm's comparisons. It is NaN if the spread
// is unknown.
func (d *decider) power(h *comparison) float64 {
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

// powerOf returns the probability that one of family comparisons finds an effect, if the final
// estimate resembles e.
func (d *decider) powerOf(e stat.Effect, effect float64, family int) float64 {
	alpha := d.design.Alpha / float64(family)
	drift := stat.NormalDrift(effect/e.SE, e.DF, alpha)
	if e.Bound > 0 && !e.Sampled {
		drift = stat.ShareDrift(effect, e.SE, e.N, e.DF, alpha)
	}
	return d.planned.Power(alpha, drift)
}

func (d *decider) warnings(c *result.Comparison, h *comparison) []string {
	all := c.Effect.Warnings
	c.Effect.Warnings = nil
	if c.Missing > 0 {
		all = append(all, d.missing(c, h))
	}
	if c.Power != nil && *c.Power < d.design.Power-0.005 && c.Verdict == result.Undecided {
		all = append(all, fmt.Sprintf("with the observed spread, %d trials find the smallest effect of interest with a probability of %.0f %%; "+
			"the planned power is %.0f %%",
			d.design.Trials, 100**c.Power, 100*d.design.Power))
	}
	if text := unbounded(c, h); text != "" {
		all = append(all, text)
	}
	if h.measure.Smallest == 0 {
		all = append(all, "no smallest effect of interest is given, so nothing can be equivalent")
	}
	return all
}
