package experiment

import (
	"fmt"
	"math"
	"strconv"

	"github.com/rehearse-dev/rehearse/harness/experiment/result"
	"github.com/rehearse-dev/rehearse/internal/show"
)

// why says in a sentence what led to the verdict of a comparison.
func (d *decider) why(c *result.Comparison, h *held) string {
	m, family := h.measure, h.family
	if c.Effect.Value == nil {
		return "no pair of trials could be compared"
	}
	if h.tooMany() {
		return fmt.Sprintf("%d of %d pairs are missing, and what is missing is not missing by chance", c.Missing, c.Missing+c.Pairs)
	}
	seen := d.seen(c, m)
	switch c.Verdict {
	case result.Equivalent:
		return fmt.Sprintf("%s: within the smallest effect of interest, %s, p %s%s", seen,
			amount(m.Smallest, m), probability(*c.EquivalenceAdjusted), corrected(family))
	case result.Better, result.Worse:
		return fmt.Sprintf("%s, p %s%s", seen, probability(*c.Adjusted), corrected(family))
	}
	if c.P == nil {
		return seen + ": nothing is known about the spread"
	}
	if h.withheld != "" {
		return fmt.Sprintf("%s: %s, if it were not for missing values (%d of %s, %d of %s), which could be of any size", seen, h.withheld,
			h.missing.b, c.Variant, h.missing.a, c.Against)
	}
	seen += fmt.Sprintf(", p %s%s", probability(*c.Adjusted), corrected(family))
	switch {
	case m.Smallest > 0 && h.effect.Even() && h.effect.Apart == 0:
		return seen + "; all differences are equal, which tells nothing about the spread, so that they cannot be called equivalent"
	case m.Smallest > 0 && h.effect.Even() && math.Abs(h.effect.Value) < m.Smallest:
		return fmt.Sprintf("%s; all differences but %d are equal, which tells too little about the spread to call them equivalent", seen, h.effect.Odd)
	case c.Needed == 0:
		return seen + "; more of the same would not decide"
	case d.design.Scope == result.Alike:
		return fmt.Sprintf("%s; about %s would decide", seen, show.Plural(c.Needed, "scenario"))
	default:
		return fmt.Sprintf("%s; about %s in each scenario would decide", seen, show.Plural(c.Needed, "trial"))
	}
}

// missing says how many pairs are missing, and what that means.
func (d *decider) missing(c *result.Comparison, h *held) string {
	text := fmt.Sprintf("%d of %d pairs are missing: a value of theirs is unknown (%d of %s, %d of %s)",
		c.Missing, c.Missing+c.Pairs, h.missing.b, c.Variant, h.missing.a, c.Against)
	if h.measure.Share && !h.tooMany() {
		text += "; the p-values take each for what speaks most against the verdict"
	}
	return text
}

// seen says what was seen: "+0.12 (95 % interval +0.05 to +0.19; 60 pairs in 3 scenarios)".
func (d *decider) seen(c *result.Comparison, m result.Measure) string {
	text := signed(*c.Effect.Value, m) + " ("
	if in := c.Effect.Interval; in != nil {
		text += fmt.Sprintf("%s interval %s to %s; ", percent(in.Level), signed(in.Lo, m), signed(in.Hi, m))
	}
	return text + fmt.Sprintf("%s in %s)", show.Plural(c.Pairs, "pair"), show.Plural(c.Scenarios, "scenario"))
}

func corrected(family int) string {
	if family < 2 {
		return ""
	}
	return fmt.Sprintf(" after correction for %d comparisons", family)
}

// amount is a value with its unit; shares are in points, hundredths.
func amount(v float64, m result.Measure) string {
	switch {
	case m.Share:
		return strconv.FormatFloat(100*v, 'f', 1, 64) + " points"
	case m.Unit == "s":
		return show.Seconds(v)
	case m.Unit == "":
		return show.Number(v)
	default:
		return show.Money(v) + " " + m.Unit
	}
}

func signed(v float64, m result.Measure) string {
	if v < 0 {
		return "-" + amount(-v, m)
	}
	return "+" + amount(v, m)
}

func percent(r float64) string { return strconv.FormatFloat(100*r, 'g', 6, 64) + " %" }

// probability is a p-value in words that fit behind "p".
func probability(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("= %.2g", p)
}
