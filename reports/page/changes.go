package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/reports"
)

// changes is what changed since a baseline or an earlier run.
type changes struct {
	Before, Summary string
	Verdict         verdict
	Findings        []finding
	Rows            []change
	More            int
	Bars            []bar
	Effects         picture
	Bless           string
}

// change is one measure of one scenario in both runs.
type change struct {
	Verdict, Class, Sign       string
	Link                       template.URL
	Scenario, Measure          string
	Before, After, Effect, Why string
}

type bar struct{ Scenario, What, Before, After string }

// maxChanges is how many changed measures are listed.
const maxChanges = 500

// judgements are the classes and signs of the verdicts of a comparison, worst first.
var judgements = []struct {
	verdict     compare.Verdict
	class, sign string
}{
	{compare.Worse, "fail", "▲"}, {compare.Insufficient, "error", "?"}, {compare.Better, "pass", "▼"}, {compare.Tied, "skip", "="},
}

func (b *Builder) changes(c *compare.Result) *changes {
	out := &changes{
		Before: line(c.Before, 200), Verdict: newVerdict(c.Verdict),
		Effects: effects(c), Bless: line(c.Bless, 300),
	}
	for _, f := range c.Findings[:min(len(c.Findings), maxChanges)] {
		shown := newFinding(f.Finding)
		if f.Scenario != "" {
			shown.Where = &reference{b.linkTo(f.Scenario), line(f.Scenario, 200)}
		}
		out.Findings = append(out.Findings, shown)
	}
	counts := map[compare.Verdict]int{}
	for i := range c.Comparisons {
		counts[c.Comparisons[i].Verdict]++
	}
	out.Summary = fmt.Sprintf("%d worse, %d better, %d tied, %d that cannot be told, %d equal",
		counts[compare.Worse], counts[compare.Better], counts[compare.Tied], counts[compare.Insufficient], c.Equal)
	if n := len(c.Missing); n > 0 {
		out.Summary += fmt.Sprintf("; %s missing", count(n, "scenario"))
	}
	if n := len(c.New); n > 0 {
		out.Summary += fmt.Sprintf("; %s not blessed yet", count(n, "scenario"))
	}
	sorted := slices.SortedStableFunc(slices.Values(c.Comparisons), func(a, b compare.Comparison) int {
		return cmp.Compare(urgency(a.Verdict), urgency(b.Verdict))
	})
	for i := range sorted[:min(len(sorted), maxChanges)] {
		out.Rows = append(out.Rows, b.change(&sorted[i]))
	}
	out.More = len(sorted) - len(out.Rows)
	for _, moved := range c.Bars[:min(len(c.Bars), maxChanges)] {
		out.Bars = append(out.Bars, bar{cmp.Or(line(moved.Scenario, 200), "all"), line(moved.What, 60), line(moved.Before, 300), line(moved.After, 300)})
	}
	return out
}

func urgency(v compare.Verdict) int {
	return slices.IndexFunc(judgements, func(j struct {
		verdict     compare.Verdict
		class, sign string
	},
	) bool {
		return j.verdict == v
	})
}

func (b *Builder) change(c *compare.Comparison) change {
	out := change{
		Verdict: line(string(c.Verdict), 40), Class: "error", Sign: "?", Scenario: cmp.Or(line(c.Scenario, 200), "all scenarios"), Measure: words(line(c.Measure, 60)),
		Before: amount(c.Before), After: amount(c.After), Why: line(c.Why, 300), Link: b.linkTo(c.Scenario),
	}
	if i := urgency(c.Verdict); i >= 0 {
		out.Class, out.Sign = judgements[i].class, judgements[i].sign
	}
	if c.BeforeText != "" || c.AfterText != "" {
		out.Before, out.After = line(c.BeforeText, 80), line(c.AfterText, 80)
	}
	if e := c.Effect; e != nil && e.Value != nil {
		out.Effect = signed(*e.Value, c.Unit)
		if in := e.Interval; in != nil {
			out.Effect += fmt.Sprintf(" [%s, %s]", signed(in.Lo, c.Unit), signed(in.Hi, c.Unit))
		}
	}
	return out
}

func signed(v float64, unit string) string {
	text := reports.Text(measure.Value{Known: true, Value: &v, Unit: unit})
	if v > 0 {
		return "+" + text
	}
	return text
}

// linkTo leads to a scenario that has trials here; empty for another one.
func (b *Builder) linkTo(name string) template.URL {
	if sc := b.scenarios[name]; sc != nil {
		return link(sc.id)
	}
	return ""
}
