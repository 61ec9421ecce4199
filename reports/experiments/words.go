package experiments

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/experiment/result"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

func name(s string) string { return sanitize.Line(s, maxName) }

func text(s string) string { return sanitize.Line(s, maxText) }

// units write the amounts of one measure.
type units struct {
	unit  string
	share bool
}

// unitsOf are those of a measure of the experiment, or of one that all have.
func unitsOf(r *result.Result, measure string) units {
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

// amount is "71.0 %", "1.25s", "0.0110 EUR", "5.2".
func (u units) amount(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "n/a"
	case u.share:
		return strconv.FormatFloat(v*100, 'f', 1, 64) + " %"
	case u.unit == "s":
		return format.Seconds(v)
	case u.unit == "EUR" || u.unit == "USD":
		return format.Money(v) + " " + u.unit
	case u.unit != "":
		return format.Significant(v) + " " + sanitize.Line(u.unit, 20)
	case v == math.Trunc(v) || math.Abs(v) >= 100:
		return format.Number(v)
	}
	return format.Significant(v)
}

// difference is an amount with its sign; one of shares is in percentage points.
func (u units) difference(v float64) string {
	size := u.amount(math.Abs(v))
	if u.share {
		size = strings.TrimSuffix(size, " %") + " pp"
	}
	switch {
	case v > 0:
		return "+" + size
	case v < 0:
		return "−" + size
	}
	return size
}

// value is a value for a person; "unknown" or "n/a" where there is none.
func (u units) value(v measure.Value) string {
	switch {
	case !v.Known:
		return "unknown"
	case v.Value == nil:
		return "n/a"
	}
	return u.amount(*v.Value)
}

// interval is "[61.0 %, 80.0 %]"; empty where there is none.
func (u units) interval(v measure.Value, format func(float64) string) string {
	if v.Interval == nil || !v.Known || v.Value == nil {
		return ""
	}
	return fmt.Sprintf("[%s, %s]", format(v.Interval.Lo), format(v.Interval.Hi))
}

// effect is "+17.0 pp [+8.1 pp, +25.9 pp]".
func effect(r *result.Result, c *result.Comparison) string {
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

// chance is a p-value; one that would read as 0 is only bounded.
func chance(p *float64) string {
	switch {
	case p == nil:
		return "n/a"
	case *p < 0.0001:
		return "< 0.0001"
	}
	return fmt.Sprintf("%.4f", *p)
}

// surely says how sure a comparison is: its p-value, how many pairs, and what would
// decide it.
func surely(r *result.Result, c *result.Comparison) string {
	parts := []string{fmt.Sprintf("%s in %s", format.Plural(c.Pairs, "pair"), format.Plural(c.Scenarios, "scenario"))}
	if c.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d missing", c.Missing))
	}
	if c.P != nil {
		part := "p " + equals(chance(c.P))
		if c.Adjusted != nil {
			part += ", after Holm " + chance(c.Adjusted)
		}
		parts = append(parts, part)
	}
	if v := known(c.Verdict); c.EquivalenceP != nil && (v == result.Equivalent || v == result.Undecided) {
		part := "p of equivalence " + chance(c.EquivalenceP)
		if c.EquivalenceAdjusted != nil {
			part += ", after Holm " + chance(c.EquivalenceAdjusted)
		}
		parts = append(parts, part)
	}
	if v := known(c.Verdict); c.NotWorseP != nil && v == result.Undecided {
		part := "p of not worse " + chance(c.NotWorseP)
		if c.NotWorseAdjusted != nil {
			part += ", after Holm " + chance(c.NotWorseAdjusted)
		}
		parts = append(parts, part)
	}
	if c.Power != nil {
		parts = append(parts, fmt.Sprintf("power %.0f %%", *c.Power*100))
	}
	if known(c.Verdict) == result.Undecided {
		parts = append(parts, wanted(r, c))
	}
	return strings.Join(parts, "; ")
}

// notes are what is to be said of a comparison beside its figures: why there are none,
// and what is to be taken with care.
func notes(c *result.Comparison) []string {
	if c.P == nil && c.Why != "" {
		return append([]string{c.Why}, c.Warnings...)
	}
	return c.Warnings
}

// wanted says how much would decide.
func wanted(r *result.Result, c *result.Comparison) string {
	switch {
	case c.Needed <= 0:
		return "no number of trials is known that would decide"
	case r.Design.Scope == result.Alike:
		return fmt.Sprintf("about %s would decide, if all stays as it is", format.Plural(c.Needed, "scenario"))
	}
	return fmt.Sprintf("about %s of each variant in each scenario would decide, if all stays as it is", format.Plural(c.Needed, "trial"))
}

func equals(p string) string {
	if strings.HasPrefix(p, "<") {
		return p
	}
	return "= " + p
}

// fact is a name with a value.
type fact struct{ Name, Value string }

// facts are what was decided before, and what it took.
func facts(r *result.Result) []fact {
	d := &r.Design
	if r.Tune != nil && len(r.Variants) == 0 { // a search that did not come to its end
		return []fact{
			{"ended", fmt.Sprintf("%s: %s", sanitize.Line(string(r.Stopped.As), 20), text(r.Stopped.Why))},
			{"used", used(r.Tune.Used)},
		}
	}
	u := unitsOf(r, d.Primary.Name)
	primary := fmt.Sprintf("%s, %s is better", name(d.Primary.Name), sanitize.Line(string(d.Primary.Better), 20))
	if d.Primary.Expr != "" {
		primary += ": " + text(d.Primary.Expr)
	}
	list := []fact{{"primary measure", primary}}
	if d.Primary.Smallest > 0 {
		list = append(list, fact{"smallest effect of interest", strings.TrimPrefix(u.difference(d.Primary.Smallest), "+")})
	}
	list = append(list,
		fact{"risk of a false alarm", fmt.Sprintf("alpha %g over %s, Holm's correction", d.Alpha, format.Plural(len(comparisons(r, result.Primary)), "comparison"))},
		fact{"planned", fmt.Sprintf("%s of each variant in each scenario, power %.0f %%, %s", format.Plural(d.Trials, "trial"), d.Power*100, seed(d.Seed))},
		fact{"verdicts are about", scope(d.Scope, len(r.Scenarios))},
		fact{"looks at the data", looks(r)},
	)
	if caps := caps(d); caps != "" {
		list = append(list, fact{"caps", caps})
	}
	return append(list,
		fact{"ended", fmt.Sprintf("%s: %s; %d of %d trials", sanitize.Line(string(r.Stopped.As), 20), text(r.Stopped.Why), r.Stopped.Trials, r.Stopped.Planned)},
		fact{"used", used(r.Used)},
	)
}

func seed(s uint64) string {
	if s == 0 {
		return "the scenarios' own seeds"
	}
	return fmt.Sprintf("seed %d", s)
}

func scope(s result.Scope, n int) string {
	if s == result.Alike {
		return fmt.Sprintf("scenarios alike, of which the %d are a sample", n)
	}
	if n == 1 {
		return "this scenario itself"
	}
	return fmt.Sprintf("these %d scenarios themselves", n)
}

func looks(r *result.Result) string {
	d := &r.Design
	if d.Looks <= 1 {
		return "one, at the end"
	}
	out := fmt.Sprintf("%d of %d made, alpha spent as %s", len(r.Looks), d.Looks, sanitize.Line(d.Spending, 40))
	if d.Source != "" {
		out += " (" + text(d.Source) + ")"
	}
	return out
}

func caps(d *result.Design) string {
	var parts []string
	if d.MaxCalls > 0 {
		parts = append(parts, format.Plural(d.MaxCalls, "call"))
	}
	if d.MaxCost != "" {
		parts = append(parts, sanitize.Line(d.MaxCost, 40))
	}
	return strings.Join(parts, ", ")
}

// used is "9,120 calls, 1.2M tokens, 1.24 EUR".
func used(u result.Used) string {
	cost := format.Money(u.EUR) + " EUR"
	if !u.CostKnown {
		cost = "at least " + cost
		if u.Why != "" {
			cost += " (" + text(u.Why) + ")"
		}
	}
	return fmt.Sprintf("%s, %s tokens, %s", format.Plural(u.Calls, "call"), format.Number(float64(u.Tokens)), cost)
}

// trials is "88 of 90 passed", with what could not be told.
func trials(t result.Trials) string {
	out := fmt.Sprintf("%d of %d passed", t.Pass, t.Pass+t.Fail)
	if t.Error > 0 {
		out += fmt.Sprintf(", %s", format.Plural(t.Error, "error"))
	}
	if t.Skip > 0 {
		out += fmt.Sprintf(", %d skipped", t.Skip)
	}
	return out
}

// find returns the variant's measure of that name; unknown if there is none.
func find(list []measure.Value, name string) measure.Value {
	for _, v := range list {
		if v.Name == name {
			return v
		}
	}
	return measure.Value{Name: name}
}

// shown are the names of the measures that a table of variants has.
func shown(r *result.Result) []string {
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

// head is how a measure is named in a table.
func head(measure string) string {
	return name(cmp.Or(map[string]string{"cost_eur": "EUR", "cost_usd": "USD"}[measure], strings.ReplaceAll(measure, "_", " ")))
}

// front says how a variant stands on the plane of cost and quality.
func front(p *result.Point) string {
	if len(p.Dominated) == 0 {
		return "on the front"
	}
	names := make([]string, 0, len(p.Dominated))
	for _, n := range p.Dominated[:min(len(p.Dominated), 5)] {
		names = append(names, name(n))
	}
	return "beaten by " + strings.Join(names, ", ")
}
