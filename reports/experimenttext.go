package reports

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// units formats the amounts of one measure.
type units struct {
	unit  string
	share bool
}

// unitsOf returns the units of a measure of the experiment or of a common measure.
func unitsOf(r *result.Experiment, measure string) units {
	for _, m := range append([]result.Measure{r.Design.Primary}, r.Design.Secondary...) {
		if m.Name == measure {
			return units{m.Unit, m.Share}
		}
	}
	switch measure {
	case "pass":
		return units{share: true}
	case "cost_eur":
		return units{unit: "EUR"}
	case "cost_usd":
		return units{unit: "USD"}
	case "duration":
		return units{unit: "s"}
	}
	return units{}
}

// amount returns an amount such as "71.0 %", "1.25s", "0.0110 EUR" or "5.2".
func (u units) amount(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "n/a"
	case u.share:
		return strconv.FormatFloat(v*100, 'f', 1, 64) + " %"
	case u.unit == "" && v != math.Trunc(v) && math.Abs(v) < 100:
		return format.Significant(v)
	}
	return format.Amount(v, u.unit)
}

// difference returns an amount with its sign; differences of shares are in points.
func (u units) difference(v float64) string {
	if u.share {
		return format.Signed(v, func(v float64) string { return format.Amount(v, format.Points) })
	}
	return format.Signed(v, u.amount)
}

// value returns a value for a person; "unknown" or "n/a" without a number.
func (u units) value(v measure.Value) string {
	switch {
	case !v.Known:
		return "unknown"
	case v.Value == nil:
		return "n/a"
	}
	return u.amount(*v.Value)
}

// interval returns an interval such as "[61.0 %, 80.0 %]"; empty without one.
func (u units) interval(v measure.Value, format func(float64) string) string {
	if v.Interval == nil || !v.Known || v.Value == nil {
		return ""
	}
	return fmt.Sprintf("[%s, %s]", format(v.Interval.Lo), format(v.Interval.Hi))
}

// effectText returns an effect such as "+17.0 points [+8.1 points, +25.9 points]".
func effectText(r *result.Experiment, c *result.Comparison) string {
	u := unitsOf(r, c.Measure)
	if !c.Effect.Known || c.Effect.Value == nil {
		return "the difference is unknown"
	}
	out := u.difference(*c.Effect.Value)
	if in := u.interval(c.Effect, u.difference); in != "" {
		out += " " + in
	}
	return out
}

// evidenceText returns the number of pairs of a comparison, its p-values, and the sample size
// that would decide it.
func evidenceText(r *result.Experiment, c *result.Comparison) string {
	parts := []string{fmt.Sprintf("%s in %s", format.Count(c.Pairs, "pair"), format.Count(c.Scenarios, "scenario"))}
	if c.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d missing", c.Missing))
	}
	add := func(name string, p, adjusted *float64) {
		if p == nil {
			return
		}
		part := name + " " + format.PValue(*p)
		if adjusted != nil {
			part += ", after Holm " + format.PValue(*adjusted)
		}
		parts = append(parts, part)
	}
	add("p", c.P, c.Adjusted)
	v := knownVerdict(c.Verdict)
	if v == result.Equivalent || v == result.Undecided {
		add("p of equivalence", c.EquivalenceP, c.EquivalenceAdjusted)
	}
	if v == result.Undecided {
		add("p of not worse", c.NotWorseP, c.NotWorseAdjusted)
	}
	if c.Power != nil {
		parts = append(parts, fmt.Sprintf("power %.0f %%", *c.Power*100))
	}
	if v == result.Undecided {
		parts = append(parts, neededText(r, c))
	}
	return strings.Join(parts, "; ")
}

// comparisonNotes returns the warnings of a comparison, and why it has no p-value.
func comparisonNotes(c *result.Comparison) []string {
	if c.P == nil && c.Why != "" {
		return append([]string{c.Why}, c.Warnings...)
	}
	return c.Warnings
}

// neededText returns the sample size that would decide a comparison.
func neededText(r *result.Experiment, c *result.Comparison) string {
	switch {
	case c.Needed <= 0:
		return "no sample size is known that would settle this"
	case r.Design.Scope == result.Alike:
		return fmt.Sprintf("about %s would decide, if the effect stays the same", format.Count(c.Needed, "scenario"))
	}
	return fmt.Sprintf("about %s of each variant in each scenario would decide, if the effect stays the same",
		format.Count(c.Needed, "trial"))
}

// designFacts returns the design of the experiment and what it used.
func designFacts(r *result.Experiment) doc.Facts {
	d := &r.Design
	var list doc.Facts
	add := func(name, value string) { list = append(list, doc.Fact{Name: name, Value: doc.Line(doc.Quote(value))}) }
	if r.Tune != nil && len(r.Variants) == 0 { // a search that did not come to its end
		add("ended", fmt.Sprintf("%s: %s", r.Stopped.As, r.Stopped.Why))
		add("used", usedText(r.Tune.Used))
		return list
	}
	primary := fmt.Sprintf("%s, %s is better", d.Primary.Name, d.Primary.Better)
	if d.Primary.Expr != "" {
		primary += ": " + d.Primary.Expr
	}
	add("primary measure", primary)
	if d.Primary.Smallest > 0 {
		add("smallest effect of interest", strings.TrimPrefix(unitsOf(r, d.Primary.Name).difference(d.Primary.Smallest), "+"))
	}
	comparisons := format.Count(len(inRole(r, result.Primary)), "comparison")
	add("risk of a false alarm", fmt.Sprintf("alpha %g over %s, Holm's correction", d.Alpha, comparisons))
	add("planned", fmt.Sprintf("%s of each variant in each scenario, power %.0f %%, %s", format.Count(d.Trials, "trial"), d.Power*100,
		seedText(d.Seed)))
	add("verdicts are about", scopeText(d.Scope, len(r.Scenarios)))
	add("analyses of the data", interimText(r))
	if caps := capsText(d); caps != "" {
		add("caps", caps)
	}
	add("ended", fmt.Sprintf("%s: %s; %d of %d trials", r.Stopped.As, r.Stopped.Why, r.Stopped.Trials, r.Stopped.Planned))
	add("used", usedText(r.Used))
	for _, f := range []struct{ name, value string }{{"file", r.File}, {"digest", r.Digest}, {"prices of", r.Prices}, {"by", r.Tool}} {
		if f.value != "" {
			add(f.name, f.value)
		}
	}
	return list
}

func seedText(s uint64) string {
	if s == 0 {
		return "the scenarios' own seeds"
	}
	return fmt.Sprintf("seed %d", s)
}

func scopeText(s result.Scope, n int) string {
	if s == result.Alike {
		return fmt.Sprintf("similar scenarios (these %d are a sample)", n)
	}
	if n == 1 {
		return "this scenario itself"
	}
	return fmt.Sprintf("these %d scenarios themselves", n)
}

func interimText(r *result.Experiment) string {
	d := &r.Design
	if d.Looks <= 1 {
		return "one, at the end"
	}
	out := fmt.Sprintf("%d of %d made, alpha spent as %s", len(r.Looks), d.Looks, d.Spending)
	if d.Source != "" {
		out += " (" + d.Source + ")"
	}
	return out
}

func capsText(d *result.Design) string {
	var parts []string
	if d.MaxCalls > 0 {
		parts = append(parts, format.Count(d.MaxCalls, "call"))
	}
	if d.MaxCost != "" {
		parts = append(parts, d.MaxCost)
	}
	return strings.Join(parts, ", ")
}

// usedText returns usage such as "9,120 calls, 1.2M tokens, 1.24 EUR".
func usedText(u result.Used) string {
	cost := format.Amount(u.EUR, "EUR")
	if !u.CostKnown {
		cost = "at least " + cost
		if u.Why != "" {
			cost += " (" + u.Why + ")"
		}
	}
	return fmt.Sprintf("%s, %s tokens, %s", format.Count(u.Calls, "call"), format.Number(float64(u.Tokens)), cost)
}

// trialsText returns counts such as "88 of 90", with errors and skips.
func trialsText(t result.Trials) string {
	out := fmt.Sprintf("%d of %d", t.Pass, t.Pass+t.Fail)
	if t.Error > 0 {
		out += fmt.Sprintf(", %s", format.Count(t.Error, "error"))
	}
	if t.Skip > 0 {
		out += fmt.Sprintf(", %d skipped", t.Skip)
	}
	return out
}

// shownMeasures returns the names of the measures in the table of variants.
func shownMeasures(r *result.Experiment) []string {
	list := []string{r.Design.Primary.Name}
	for _, m := range r.Design.Secondary {
		list = append(list, m.Name)
	}
	list = append(list, "pass", "cost_eur", "calls")
	var distinct []string
	seen := map[string]bool{}
	for _, n := range list {
		if !seen[n] && n != "" {
			distinct, seen[n] = append(distinct, n), true
		}
	}
	return distinct
}

// measureHead returns the head of the column of a measure.
func measureHead(measure string) string {
	return cmp.Or(map[string]string{"cost_eur": "EUR", "cost_usd": "USD"}[measure], strings.ReplaceAll(measure, "_", " "))
}
