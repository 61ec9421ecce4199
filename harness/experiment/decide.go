package experiment

import (
	"math"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/stat"
)

// decider decides comparisons from the values of trials. Its results depend only on the design, the
// look and the values.
type decider struct {
	design    result.Design
	variants  []string
	scenarios []string
	pairs     []pair
	planned   *stat.Sequential
	looks     []int // trials of each variant in each scenario, by planned look
}

// pair contains the indices of two variants: b is compared with a.
type pair struct{ a, b int }

// table contains the values of one measure by variant, scenario and trial; NaN is unknown.
// Scenarios may have different numbers of trials, the variants of one scenario may not.
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
	d.planned = stat.NewSequential(stat.Spending(design.Spending), d.times(d.looks))
	return d
}

// times returns the looks as fractions of the planned data.
func (d *decider) times(looks []int) []float64 {
	all := make([]float64, len(looks))
	for i, n := range looks {
		all[i] = float64(n) / float64(d.design.Trials)
	}
	return all
}

// cut returns the plan of an experiment that ends after a number of trials of each variant in each
// scenario, fractional within a round, for a reason unrelated to the differences. Its last look
// spends the rest of alpha.
func (d *decider) cut(trials float64) (plan *stat.Sequential, look int) {
	share := min(1, trials/float64(d.design.Trials))
	var times []float64
	for _, t := range d.times(d.looks) {
		if t < share-1e-9 {
			times = append(times, t)
		}
	}
	return stat.NewSequential(stat.Spending(d.design.Spending), append(times, share)), len(times)
}

// comparison compares a pair of variants by a measure.
type comparison struct {
	pair
	measure result.Measure
	// at is the index of the measure, 0 for the primary one; family is the number of comparisons
	// with its role.
	at, family int
	effect     stat.Effect
	pairs      int
	missing    missing
	// outside counts the values outside the range declared in the file.
	outside int
	// least and most are the smallest and the largest effect that the missing values of shares
	// allow; without missing values, or a bound, the effect.
	least, most stat.Effect
	// withheld is the verdict that was not given, because the missing values could reverse it.
	withheld result.Verdict
	// The p-values of result.Comparison.
	p, adjusted         *float64
	equalP, equalAdjust *float64
	notWorseP, notWorse *float64
	verdict             result.Verdict
}

// missing counts the pairs without a difference, by the unknown side: b, a, or both.
type missing struct{ pairs, a, b int }

// compare compares all pairs, by the primary measure and then by the secondary ones, as far as the
// plan's look allows. Values are by measure, the primary one first.
func (d *decider) compare(plan *stat.Sequential, look int, values []table) []comparison {
	all := d.pairUp(values)
	for i := range all {
		d.test(plan, look, &all[i])
	}
	primary, secondary := all[:len(d.pairs)], all[len(d.pairs):]
	for _, family := range [][]comparison{primary, secondary} {
		holm(family, func(h *comparison) (*float64, **float64) { return h.p, &h.adjusted })
		holm(family, func(h *comparison) (*float64, **float64) { return h.equalP, &h.equalAdjust })
		holm(family, func(h *comparison) (*float64, **float64) { return h.notWorseP, &h.notWorse })
		for i := range family {
			d.decide(&family[i])
		}
	}
	return all
}

// pairUp estimates the effects of all pairs.
func (d *decider) pairUp(values []table) []comparison {
	measures := d.measures()
	var all []comparison
	for i, m := range measures {
		for _, p := range d.pairs {
			h := comparison{pair: p, measure: m, at: i, family: len(d.pairs), verdict: result.Undecided}
			if i > 0 {
				h.family *= len(measures) - 1
			}
			d.fill(&h, values[i])
			all = append(all, h)
		}
	}
	return all
}

// fill estimates the effect of a comparison from the values of its measure.
func (d *decider) fill(h *comparison, t table) {
	known, least, most := make([][]float64, len(d.scenarios)), make([][]float64, len(d.scenarios)), make([][]float64, len(d.scenarios))
	for s := range d.scenarios {
		x, y := t[h.a][s], t[h.b][s]
		for n := range min(len(x), len(y)) {
			least[s] = append(least[s], valueOr(y[n], 0)-valueOr(x[n], 1))
			most[s] = append(most[s], valueOr(y[n], 1)-valueOr(x[n], 0))
			h.missing.a += one(math.IsNaN(x[n]))
			h.missing.b += one(math.IsNaN(y[n]))
			h.outside += one(outside(x[n], h.measure)) + one(outside(y[n], h.measure))
			if diff := y[n] - x[n]; math.IsNaN(diff) {
				h.missing.pairs++
			} else {
				known[s] = append(known[s], diff)
			}
		}
		h.pairs += len(known[s])
	}
	h.effect = d.estimate(known, h.measure)
	h.least, h.most = h.effect, h.effect
	if h.missing.pairs > 0 && h.measure.Share {
		h.least, h.most = d.estimate(least, h.measure), d.estimate(most, h.measure)
	}
}

// valueOr returns a value, or its replacement if it is unknown.
func valueOr(v, unknown float64) float64 {
	if math.IsNaN(v) {
		return unknown
	}
	return v
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// measures returns all measures, the primary one first.
func (d *decider) measures() []result.Measure {
	return append([]result.Measure{d.design.Primary}, d.design.Secondary...)
}

// estimate averages over the scenarios, or generalizes to similar ones.
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

// mostMissing is the largest fraction of missing pairs with which a verdict is given.
const mostMissing = 0.1

// tooMany reports whether so many pairs are missing that the others do not represent them: they are
// not missing at random.
func (h *comparison) tooMany() bool {
	return float64(h.missing.pairs) > mostMissing*float64(h.missing.pairs+h.pairs)
}

func (d *decider) test(plan *stat.Sequential, look int, h *comparison) {
	if !h.effect.Known() || h.tooMany() {
		return
	}
	p := plan.Adjust(look, h.differenceP())
	h.p = &p
	if h.measure.Smallest > 0 {
		h.equalP = h.oneSided(plan, look, h.worstCase(h.equivalence))
		if h.measure.Share || h.missing.b <= h.missing.a { // missing values are unbounded
			h.notWorseP = h.oneSided(plan, look, h.worstCase(h.noninferiority))
		}
	}
}

// oneSided returns the p-value of a one-sided test at a look, valid for any number of looks; nil if
// it is not tested at that look. A measure that is not a share can have rare values that have not
// occurred yet, so it is tested at the last look only, which makes it a single test.
func (h *comparison) oneSided(plan *stat.Sequential, look int, p float64) *float64 {
	switch {
	case h.measure.Share:
		p = plan.Adjust(look, min(1, 2*p)) / 2 // the plan is for two-sided tests
	case !plan.Last(look) || h.reach() == 0:
		return nil
	}
	return &p
}

// differenceP returns the p-value of the observed difference, for the worst possible missing
// shares.
func (h *comparison) differenceP() float64 {
	switch seen := h.effect.P(); {
	case h.effect.Value > 0 && h.least.Value > 0:
		return max(seen, h.least.P())
	case h.effect.Value < 0 && h.most.Value < 0:
		return max(seen, h.most.P())
	default:
		return 1
	}
}

// equivalence returns the p-value that the difference is at least the smallest effect of interest,
// given its estimate e.
func (h *comparison) equivalence(e stat.Effect) float64 {
	return e.EquivalenceP(h.measure.Smallest, h.reach())
}

// noninferiority returns the p-value that the variant is worse by at least the smallest effect of
// interest, given the estimate e of the difference: one side of the test of equivalence.
func (h *comparison) noninferiority(e stat.Effect) float64 {
	if h.measure.Better == result.Higher {
		return e.AboveP(-h.measure.Smallest, h.reach())
	}
	return e.BelowP(h.measure.Smallest, h.reach())
}

// worstCase returns the largest p-value of the effect over all possible missing shares.
func (h *comparison) worstCase(p func(stat.Effect) float64) float64 {
	if h.missing.pairs == 0 {
		return p(h.effect)
	}
	return max(p(h.effect), p(h.least), p(h.most))
}

// reach returns the largest possible difference of a pair by the declared range; 0 if there is no
// bound, or values were outside of it.
func (h *comparison) reach() float64 {
	if r := h.measure.Range; len(r) == 2 && h.outside == 0 {
		return r[1] - r[0]
	}
	return float64(one(h.measure.Share))
}

// outside reports whether a value is outside the range of its measure.
func outside(v float64, m result.Measure) bool {
	return len(m.Range) == 2 && (v < m.Range[0] || v > m.Range[1])
}

func holm(family []comparison, of func(*comparison) (p *float64, adjusted **float64)) {
	values := make([]float64, len(family))
	for i := range family {
		values[i] = 1 // planned comparisons count even if they could not be tested
		if p, _ := of(&family[i]); p != nil {
			values[i] = *p
		}
	}
	for i, adjusted := range stat.Holm(values) {
		if p, into := of(&family[i]); p != nil {
			*into = &adjusted
		}
	}
}

func (d *decider) decide(h *comparison) {
	switch {
	case h.equalAdjust != nil && *h.equalAdjust <= d.design.Alpha:
		h.verdict = result.Equivalent
	case h.adjusted != nil && *h.adjusted <= d.design.Alpha:
		h.verdict = result.Worse
		if (h.effect.Value > 0) == (h.measure.Better == result.Higher) {
			h.verdict = result.Better
		}
	}
	if h.favoursIncomplete() {
		h.withheld, h.verdict = h.verdict, result.Undecided
	}
}

// favoursIncomplete reports whether the verdict favours a variant with more missing values than the
// other although nothing bounds them: an aborted trial can be arbitrarily bad. Shares are bounded,
// and their p-values account for that.
func (h *comparison) favoursIncomplete() bool {
	if h.measure.Share {
		return false
	}
	switch h.verdict {
	case result.Better:
		return h.missing.b > h.missing.a
	case result.Worse:
		return h.missing.a > h.missing.b
	case result.Equivalent:
		return h.missing.a != h.missing.b
	case result.Undecided:
	}
	return false
}

// decided counts the comparisons by the primary measure that have a verdict.
func decided(all []comparison) (done, of int) {
	for i := range all {
		if all[i].at > 0 {
			continue
		}
		if of++; all[i].verdict != result.Undecided {
			done++
		}
	}
	return done, of
}
