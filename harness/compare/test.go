package compare

import (
	"fmt"
	"math"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/stat"
)

// correction corrects for the number of tests.
type correction struct {
	alpha float64
	// tests is Tarone's factor over all tests, left the factor over the tests that are not
	// significant.
	tests, left int
	// families counts all tested families, timed those of wall-clock times.
	families, timed int
}

// each returns the level that the first of the tests must reach.
func (s correction) each() float64 { return s.alpha / float64(max(1, s.families)) }

// test is a statistical test whose verdict depends on all others.
type test struct {
	family
	// at is the index of its comparison.
	at int
	// p is the p-value, corrected for the other measures of the family; least is the smallest
	// possible one.
	p, least float64
	// extreme is true if the data could not show a larger difference.
	extreme bool
	// before and after are the values of the trials, NaN for a missing one; nil for a test of
	// counts.
	before, after []float64
	// effect is after minus before, with its interval.
	effect stat.Summary
	// toward has the sign of the difference if the effect is 0 or unknown.
	toward float64
	// seen is the text before the effect; unit is the unit of the effect.
	seen string
	unit string
	// margin is the smallest effect of interest, in the unit of the effect.
	margin float64
	// scale is the reference of the relative effect; 0 omits it.
	scale float64
	// higher is true if more is better.
	higher bool
	// noun names the data that would help to decide; fewest returns how many a test needs to reach
	// significance at a level.
	noun   string
	fewest func(alpha float64) int
	// sides is how many of the effect's N make one noun on both sides; 0 means 1.
	sides int
	// wall describes the load of the machine; nil for other measures than wall-clock times.
	wall *load
}

// decidable reports whether the test could have been significant.
func (t *test) decidable(s correction) bool { return t.least <= s.alpha/float64(s.left) }

// decide sets the verdict. A significant difference counts unless its whole interval is within the
// margin or the load of the machine can explain it.
func (t *test) decide(x *Comparison, s correction) {
	seen := t.words()
	if t.decidable(s) {
		seen += fmt.Sprintf(", p %s after correction for %s", format.PValue(*x.Adjusted), format.Plural(s.tests, "test"))
	}
	loaded := t.wall.explains(s)
	switch in := t.effect.Interval; {
	case in != nil && math.Abs(in.Lo) <= t.margin && math.Abs(in.Hi) <= t.margin:
		x.Verdict = Tied
		x.Why = fmt.Sprintf("%s, all of it within the smallest effect of interest, %s", t.words(), format.Amount(t.margin, t.unit))
	case x.Adjusted != nil && *x.Adjusted <= s.alpha && loaded != "":
		x.Verdict = Insufficient
		x.Why = seen + "; " + loaded
	case x.Adjusted != nil && *x.Adjusted <= s.alpha:
		x.Verdict = Worse
		if t.up() == t.higher {
			x.Verdict = Better
		}
		x.Why = seen
	default:
		x.Verdict = Insufficient
		x.Why = seen + "; " + t.more(s)
		x.open = loaded == "" && t.alarming(t.decidable(s))
	}
}

// alarming reports whether an undecided difference is too clear to pass: it is worse by more than
// the margin, and either at least as large as the value before or, if no test could have found it,
// as extreme as possible with its whole interval beyond the margin.
func (t *test) alarming(decidable bool) bool {
	size := math.Abs(t.effect.Value)
	if !(size > t.margin) || t.up() == t.higher {
		return false
	}
	nearest := size
	if in := t.effect.Interval; in != nil {
		if nearest = in.Lo; t.higher {
			nearest = -in.Hi
		}
	}
	doubled := t.before != nil && size >= math.Abs(t.scale)
	return doubled || !decidable && t.extreme && nearest > t.margin
}

// up reports whether the effect is an increase.
func (t *test) up() bool {
	switch in := t.effect.Interval; {
	case t.effect.Value != 0 && !math.IsNaN(t.effect.Value):
		return t.effect.Value > 0
	case in != nil && in.Lo+in.Hi != 0:
		return in.Lo+in.Hi > 0
	default:
		return t.toward > 0
	}
}

// words describes the effect: "+120ms (+12 %; 95 % interval +80ms to +150ms; 20 trials)".
func (t *test) words() string {
	text := t.seen
	if math.IsNaN(t.effect.Value) {
		return text
	}
	if text != "" {
		text += ": "
	}
	text += format.Difference(t.effect.Value, t.unit) + " ("
	if t.scale != 0 {
		text += share(t.effect.Value, t.scale) + "; "
	}
	if in := t.effect.Interval; in != nil {
		text += format.Interval(in.Level, in.Lo, in.Hi, t.unit) + "; "
	}
	return text + format.Plural(t.effect.N/max(1, t.sides), t.noun) + ")"
}

// more describes how many trials would decide.
func (t *test) more(s correction) string {
	sides := max(1, t.sides)
	fewest := max(t.fewest(s.each()), t.effect.N/sides+1)
	n := (stat.Needed(t.effect, t.margin, max(1, s.families)) + sides - 1) / sides
	switch {
	case t.effect.Interval == nil:
		return fmt.Sprintf("at least %s are needed", format.Plural(fewest, t.noun))
	case n == 0:
		return "more data alone would not decide"
	default:
		return fmt.Sprintf("about %s would decide", format.Plural(roughly(max(n, fewest)), t.noun))
	}
}

// roughly rounds an estimate up to two digits.
func roughly(n int) int {
	step := 1
	for n/step >= 100 {
		step *= 10
	}
	return (n + step - 1) / step * step
}
