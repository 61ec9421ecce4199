package experiment

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// why explains the verdict of a comparison in a sentence.
func (d *decider) why(c *result.Comparison, h *comparison) string {
	m, family := h.measure, h.family
	if c.Effect.Value == nil {
		return "no pair of trials could be compared"
	}
	if h.tooMany() {
		return fmt.Sprintf("%d of %d pairs are missing, and not at random", c.Missing, c.Missing+c.Pairs)
	}
	seen := d.describeEffect(c, m)
	switch c.Verdict {
	case result.Equivalent:
		return fmt.Sprintf("%s: within the smallest effect of interest, %s, p %s%s", seen,
			format.Amount(m.Smallest, unit(m)), format.PValue(*c.EquivalenceAdjusted), corrected(family))
	case result.Better, result.Worse:
		return fmt.Sprintf("%s, p %s%s", seen, format.PValue(*c.Adjusted), corrected(family))
	case result.Undecided:
	}
	if c.P == nil {
		return seen + ": the spread is unknown"
	}
	if h.withheld != "" {
		return fmt.Sprintf("%s: %s except for missing values (%d of %s, %d of %s), which are unbounded", seen, h.withheld,
			h.missing.b, c.Variant, h.missing.a, c.Against)
	}
	seen += fmt.Sprintf(", p %s%s", format.PValue(*c.Adjusted), corrected(family))
	switch {
	case c.Needed == 0 && unbounded(c, h) != "":
		return seen + "; " + unbounded(c, h)
	case c.Needed == 0:
		return seen + "; more trials would not decide"
	case d.design.Scope == result.Alike:
		return fmt.Sprintf("%s; about %s would decide", seen, format.Plural(c.Needed, "scenario"))
	default:
		return fmt.Sprintf("%s; about %s in each scenario would decide", seen, format.Plural(c.Needed, "trial"))
	}
}

// unbounded explains why an undecided comparison was not tested for equivalence: the largest
// possible difference of a pair is unknown.
func unbounded(c *result.Comparison, h *comparison) string {
	m := h.measure
	switch {
	case c.Verdict != result.Undecided || m.Smallest == 0 || h.reach() > 0:
		return ""
	case h.outside > 0:
		return fmt.Sprintf("equivalent cannot be tested: %s of %s outside the declared range %s to %s",
			format.Plural(h.outside, "value"), m.Name+are(h.outside), format.Amount(m.Range[0], unit(m)), format.Amount(m.Range[1], unit(m)))
	}
	return fmt.Sprintf("equivalent cannot be tested: %s is unbounded; declare its range: [least, greatest]", m.Name)
}

func are(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

// missing describes the missing pairs and their consequence.
func (d *decider) missing(c *result.Comparison, h *comparison) string {
	text := fmt.Sprintf("%d of %d pairs are missing a value (%d of %s, %d of %s)",
		c.Missing, c.Missing+c.Pairs, h.missing.b, c.Variant, h.missing.a, c.Against)
	if h.measure.Share && !h.tooMany() {
		text += "; the p-values assume the worst for each"
	}
	return text
}

// describeEffect describes the effect: "+0.12 (95 % interval +0.05 to +0.19; 60 pairs in 3 scenarios)".
func (d *decider) describeEffect(c *result.Comparison, m result.Measure) string {
	text := format.Difference(*c.Effect.Value, unit(m)) + " ("
	if in := c.Effect.Interval; in != nil {
		text += format.Interval(in.Level, in.Lo, in.Hi, unit(m)) + "; "
	}
	return text + fmt.Sprintf("%s in %s)", format.Plural(c.Pairs, "pair"), format.Plural(c.Scenarios, "scenario"))
}

func corrected(family int) string {
	if family < 2 {
		return ""
	}
	return fmt.Sprintf(" after correction for %d comparisons", family)
}

func unit(m result.Measure) string {
	if m.Share {
		return format.Points
	}
	return m.Unit
}
