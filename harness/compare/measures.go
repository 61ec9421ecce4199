package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/stat"
)

// kind describes how a measure is compared. Smaller is better for all of them.
type kind struct {
	// ignored excludes a measure that is neither better nor worse by itself: cached tokens are part
	// of the input, and their saving is in the cost.
	ignored bool
	// time marks measures of the wall clock in real time.
	time bool
	// limit returns the relative limit of cost and tokens; nil for others.
	limit func(Rules) float64
	// covered marks a measure that another one already covers. Testing it too would only weaken the
	// tests.
	covered bool
}

func costLimit(r Rules) float64 { return r.Cost }

func tokenLimit(r Rules) float64 { return r.Tokens }

// kinds are the rules by measure name. Other measures are classified by their unit.
var kinds = map[string]kind{
	"tokens":        {limit: tokenLimit},
	"tokens_input":  {limit: tokenLimit, covered: true},
	"tokens_output": {limit: tokenLimit, covered: true},
	"tokens_cached": {ignored: true},
	"cost_eur":      {limit: costLimit},
	"cost_usd":      {limit: costLimit, covered: true},
	"latency_p50":   {time: true, covered: true},
	"latency_max":   {time: true, covered: true},
}

func kindOf(m *Measure) kind {
	if k, ok := kinds[m.Name]; ok {
		return k
	}
	switch m.Unit {
	case "s":
		return kind{time: true}
	case "EUR", "USD":
		return kind{limit: costLimit}
	default:
		return kind{}
	}
}

// measures compares all measures of a scenario. It reports whether any could be compared without a
// test.
func (c *comparing) measures(p *pair) (compared bool) {
	var names []string
	for _, m := range slices.Concat(p.before.Measures, p.after.Measures) {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		b, inBefore := p.before.Measure(name)
		a, inAfter := p.after.Measure(name)
		switch {
		case !inBefore:
			b = Measure{Name: name, Unit: a.Unit, Known: true}
		case !inAfter:
			a = Measure{Name: name, Unit: b.Unit, Known: true}
		}
		k := kindOf(&b)
		if k.ignored {
			continue
		}
		x, t, show := c.measure(p, k, &b, &a)
		switch {
		case show:
			compared = compared || x.Verdict != Insufficient
			c.add(x, t)
		case x.Verdict == Tied:
			compared = true
			c.result.Equal++
		}
	}
	return compared
}

// measure compares one measure. show is false if both sides are equal or have no value.
func (c *comparing) measure(p *pair, k kind, b, a *Measure) (x Comparison, t *test, show bool) {
	x = Comparison{
		Scenario: p.after.Name, Measure: b.Name, Unit: b.Unit, Verdict: Insufficient,
		Before: valueOf(b), After: valueOf(a), Rule: ruleOf(p, k, b, a),
	}
	switch {
	case b.Unit != a.Unit:
		x.Why = fmt.Sprintf("it is in %q now and was in %q", a.Unit, b.Unit)
		x.lost = true
		return x, nil, true
	case !finite(b.Value) || !finite(a.Value):
		x.Why, x.lost = "the value is not finite", true
		x.Before.Value, x.After.Value = nil, nil
		return x, nil, true
	case !b.Known || !a.Known:
		if x.Rule == Relative && b.Value != nil && a.Value != nil {
			bounded(p, b, a, k.limit(c.rules), &x)
		} else {
			x.Why, x.lost = unknown(b, a), b.Value != nil && (b.Known || a.Value == nil)
		}
		return x, nil, true
	case b.Value == nil && a.Value == nil:
		x.Verdict = Tied
		return x, nil, false
	case b.Value == nil || a.Value == nil:
		x.Why = "there was nothing to measure before"
		if a.Value == nil {
			x.Why, x.lost = "there is nothing to measure now", !untimed(b.Name, p.after)
		}
		return x, nil, true
	case k.time && p.before.RealTime != p.after.RealTime:
		x.Why = "one side ran in real time and the other in virtual time"
		return x, nil, true
	}
	switch x.Rule {
	case Exact:
		show = exactly(p, b, a, &x)
	case Relative:
		before, now := means(p, b, a)
		show = relatively(before, now, k.limit(c.rules), &x)
	default:
		if k.covered {
			return x, nil, false
		}
		margin := c.rules.Margin
		if k.limit != nil {
			margin = k.limit(c.rules)
		}
		t, show = c.paired(p, k, b, a, margin, &x)
	}
	return x, t, show
}

// untimed reports whether a measure is a latency of calls and a side makes no calls.
func untimed(name string, s *Scenario) bool {
	m, ok := s.Measure("calls")
	return strings.HasPrefix(name, "latency_") && ok && m.Known && m.Value != nil && *m.Value == 0
}

func finite(v *float64) bool { return v == nil || !math.IsNaN(*v) && !math.IsInf(*v, 0) }

// inTrial returns the value of a measure in trial n on both sides; ok is false if one has no value.
func inTrial(b, a *Measure, n int) (before, now float64, ok bool) {
	before, ok1 := b.At(n)
	now, ok2 := a.At(n)
	return before, now, ok1 && ok2 && finite(&before) && finite(&now)
}

// ruleOf returns how to compare a measure. Values that vary between trials, as wall-clock times
// always do, are tested.
func ruleOf(p *pair, k kind, b, a *Measure) Rule {
	wall := k.time && (p.before.RealTime || p.after.RealTime)
	repeats := p.repeats || constant(b) && constant(a)
	switch {
	case wall || !repeats:
		return Paired
	case k.limit != nil:
		return Relative
	default:
		return Exact
	}
}

// constant reports whether all trials have the same value.
func constant(m *Measure) bool {
	return !slices.ContainsFunc(m.Trials, func(v *float64) bool { return v == nil || *v != *m.Trials[0] })
}

func unknown(b, a *Measure) string {
	switch {
	case b.Known:
		return "it was known before and is not now"
	case a.Known:
		return "it was not known before"
	default:
		return "it is not known on either side"
	}
}

func valueOf(m *Measure) measure.Value {
	return measure.Value{Name: m.Name, Unit: m.Unit, Known: m.Known, Value: m.Value, N: m.N, Interval: m.Interval}
}

// effect sets a difference that has no uncertainty.
func effect(x *Comparison, d float64) {
	if finite(&d) {
		x.Effect = &measure.Value{Name: x.Measure, Unit: x.Unit, Known: true, Value: &d, N: min(x.Before.N, x.After.N)}
	}
}

// exactly compares trial by trial, and the mean of the trials that are not stored.
func exactly(p *pair, b, a *Measure, x *Comparison) (differ bool) {
	var worse, better, trials int
	var first string
	var storedBefore, storedNow stat.Moments
	for n := 1; n <= p.trials(); n++ {
		before, now, ok := inTrial(b, a, n)
		if !ok {
			continue
		}
		trials++
		storedBefore.Add(before)
		storedNow.Add(now)
		switch {
		case now > before:
			worse++
		case now < before:
			better++
		default:
			continue
		}
		if first == "" {
			first = seen(before, now, x.Unit)
			if p.trials() > 1 {
				first += fmt.Sprintf(" in trial %d", n)
			}
		}
	}
	if trials == 0 {
		x.Why = "no trial has a value on both sides"
		return true
	}
	before, now, rest := beyond(b, a, &storedBefore, &storedNow)
	if worse+better == 0 && rest == 0 {
		x.Verdict = Tied
		return false
	}
	effect(x, *a.Value-*b.Value)
	if x.Verdict = Better; worse > 0 || rest > 0 && now > before {
		x.Verdict = Worse
	}
	if worse+better > 0 && trials > 1 {
		first += fmt.Sprintf("; it is more in %d and less in %d of %d trials", worse, better, trials)
	}
	if rest > 0 {
		if first != "" {
			first += "; "
		}
		first += fmt.Sprintf("%s on average in the %s that were not stored", seen(before, now, x.Unit), format.Plural(rest, "trial"))
	}
	x.Why = first
	return true
}

// beyond returns the means of both sides over the rest trials whose values are not stored; rest is
// 0 if the means are equal or unknown.
func beyond(b, a *Measure, storedBefore, storedNow *stat.Moments) (before, now float64, rest int) {
	rest = b.N - storedBefore.N()
	if b.N != a.N || rest <= 0 || storedBefore.N() != MaxTrials {
		return 0, 0, 0
	}
	mean := func(m *Measure, stored *stat.Moments) float64 {
		return (*m.Value*float64(m.N) - stored.Sum()) / float64(rest)
	}
	before, now = mean(b, storedBefore), mean(a, storedNow)
	// Means are rounded to twelve digits.
	noise := 1e-10 * float64(b.N) * (math.Abs(*b.Value) + math.Abs(*a.Value)) / float64(rest)
	if math.Abs(now-before) <= noise {
		return 0, 0, 0
	}
	return before, now, rest
}

// means returns the means of both sides over the same trials.
func means(p *pair, b, a *Measure) (before, now float64) {
	if b.N == a.N {
		return *b.Value, *a.Value
	}
	var first, second stat.Moments
	for n := 1; n <= p.trials(); n++ {
		if before, now, ok := inTrial(b, a, n); ok {
			first.Add(before)
			second.Add(now)
		}
	}
	if first.N() == 0 {
		return *b.Value, *a.Value
	}
	return first.Sum() / float64(first.N()), second.Sum() / float64(second.N())
}

// relatively compares means with a relative limit.
func relatively(before, now, most float64, x *Comparison) (show bool) {
	d := now - before
	if d == 0 {
		x.Verdict = Tied
		return false
	}
	effect(x, d)
	x.Why = seen(before, now, x.Unit) + ": " + share(d, before)
	switch {
	case math.Abs(d) <= most*math.Abs(before):
		x.Verdict = Tied
		x.Why += fmt.Sprintf(", within the limit of %s", format.Limit(most))
	case d > 0:
		x.Verdict = Worse
		x.Why += fmt.Sprintf(", over the limit of %s", format.Limit(most))
	default:
		x.Verdict = Better
		x.Why += fmt.Sprintf(", by more than the limit of %s", format.Limit(most))
	}
	return true
}

// paired prepares the test of a measure over trials.
func (c *comparing) paired(p *pair, k kind, b, a *Measure, margin float64, x *Comparison) (t *test, show bool) {
	n := p.trials()
	t = &test{before: make([]float64, n), after: make([]float64, n)}
	var differences []float64
	var mean stat.Moments
	for i := range n {
		before, now, ok := inTrial(b, a, i+1)
		d := now - before
		if ok = ok && finite(&d); !ok {
			t.before[i], t.after[i] = math.NaN(), math.NaN()
			continue
		}
		t.before[i], t.after[i] = before, now
		differences = append(differences, d)
		mean.Add(before)
	}
	if len(differences) == 0 {
		x.Why = "no trial has a value on both sides"
		return nil, true
	}
	if !slices.ContainsFunc(differences, func(d float64) bool { return d != 0 }) {
		x.Verdict = Tied
		return nil, false
	}
	r := stat.HodgesLehmann(differences, c.level())
	x.Effect = &measure.Value{
		Name: x.Measure, Unit: x.Unit, Known: true, Value: &r.Value, N: r.N, Interval: r.Interval, Warnings: r.Warnings,
	}
	t.family = family{x.Scenario, familyOf(x.Measure, k)}
	t.effect, t.unit, t.toward = r, x.Unit, *a.Value-*b.Value
	t.noun, t.fewest = "trial", stat.LeastSamples
	t.scale = mean.Sum() / float64(mean.N())
	t.margin = margin * math.Abs(t.scale)
	if k.time && p.after.RealTime {
		t.wall = newLoad(t.before, t.after)
	}
	return t, true
}
