package compare

import (
	"fmt"
	"math"

	"github.com/rehearse-dev/rehearse/internal/show"
	"github.com/rehearse-dev/rehearse/stat"
)

// test is a statistical test whose verdict waits for all others.
type test struct {
	// at is the index of its comparison.
	at int
	p  float64
	// effect is after less before, with its interval.
	effect stat.Summary
	// toward has the sign of the difference where the effect is 0 or unknown.
	toward float64
	// seen is what to say before the effect; unit is that of the effect in words.
	seen string
	unit string
	// margin is the smallest effect of interest, in the unit of the effect.
	margin float64
	// scale is what the effect is shown relative to; 0 shows it as it is.
	scale float64
	// higher is true where more is better.
	higher bool
	// possible is false where the data cannot be significant whatever they say.
	possible bool
	// noun names what there should be more of; least is how many of them a test takes
	// to be significant at all.
	noun  string
	least func(alpha float64) int
	// each is how many of the effect's N make one of the noun on both sides; 0 means 1.
	each int
}

// decide draws the verdict of a test among many. A difference that is significant
// counts, unless its whole interval is within what does not matter.
func (t *test) decide(x *Comparison, alpha float64, tests int) {
	adjusted := 1.0
	if x.Adjusted != nil {
		adjusted = *x.Adjusted
	}
	seen := t.words()
	switch in := t.effect.Interval; {
	case in != nil && math.Abs(in.Lo) <= t.margin && math.Abs(in.Hi) <= t.margin:
		x.Verdict = Tied
		x.Why = fmt.Sprintf("%s, all of it within the smallest effect of interest, %s", seen, amount(t.margin, t.unit))
	case adjusted <= alpha:
		x.Verdict = Worse
		if t.up() == t.higher {
			x.Verdict = Better
		}
		x.Why = fmt.Sprintf("%s, p %s after correction for %s", seen, probability(adjusted), show.Plural(tests, "test"))
	default:
		x.Verdict = Insufficient
		x.Why = seen
		if t.possible {
			x.Why += fmt.Sprintf(", p %s after correction for %s", probability(adjusted), show.Plural(tests, "test"))
		}
		x.Why += "; " + t.more(alpha, tests)
	}
}

// up reports whether the effect is more than before.
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

// words say what was seen: "+120ms (+12 %; 95 % interval +80ms to +150ms; 20 trials)".
func (t *test) words() string {
	text := t.seen
	if math.IsNaN(t.effect.Value) {
		return text
	}
	if text != "" {
		text += ": "
	}
	text += signed(t.effect.Value, t.unit) + " ("
	if t.scale != 0 {
		text += share(t.effect.Value, t.scale) + "; "
	}
	if in := t.effect.Interval; in != nil {
		text += fmt.Sprintf("%s interval %s to %s; ", limit(in.Level), signed(in.Lo, t.unit), signed(in.Hi, t.unit))
	}
	return text + show.Plural(t.effect.N/max(1, t.each), t.noun) + ")"
}

// more says how many trials would decide.
func (t *test) more(alpha float64, tests int) string {
	least := t.least(alpha / float64(tests))
	n := stat.Needed(t.effect, t.margin, tests)
	each := max(1, t.each)
	n = (n + each - 1) / each
	switch {
	case t.effect.Interval == nil:
		return fmt.Sprintf("it takes at least %s", show.Plural(least, t.noun))
	case n == 0:
		return "more data alone would not decide"
	default:
		return fmt.Sprintf("about %s would decide", show.Plural(roughly(max(n, least, t.effect.N/each+1)), t.noun))
	}
}

// roughly rounds up to two digits: it is an estimate.
func roughly(n int) int {
	step := 1
	for n/step >= 100 {
		step *= 10
	}
	return (n + step - 1) / step * step
}

// probability is a p-value in words that fit behind "p".
func probability(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("= %.2g", p)
}
