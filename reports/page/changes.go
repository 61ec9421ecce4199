package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/explored"
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
	Verdict, Class, Sign              string
	Link                              template.URL
	Scenario, Measure                 string
	Before, After, Effect, Why, order string
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

// exploration is what was found off a golden path.
type exploration struct {
	Scenario string
	Link     template.URL
	Verdict  verdict
	Counts   []outcomes
	Stopped  string
	Matrices []heat
	Failures []failure
	Left     []string
}

// outcome is an outcome with the sign that it has beside its colour.
type outcome struct {
	Name, Sign string
	Link       template.URL
}

type outcomes struct {
	outcome
	N int
}

// heat is a heat map as a table.
type heat struct {
	Caption, Point string
	Heads          []string
	Rows           []heatRow
}

type heatRow struct {
	At, Name string
	Cells    []outcome
}

// failure is a broken invariant.
type failure struct {
	ID, Rule, Message, Evidence, Runs, By, Command string
	Link                                           template.URL
}

// maxHeat is how many rows a heat map has.
const maxHeat = 60

var outcomeSigns = []outcome{
	{Name: string(survival.Survived), Sign: "✓"},
	{Name: string(survival.Degraded), Sign: "~"},
	{Name: string(survival.Failed), Sign: "✗"},
	{Name: string(survival.Unfired), Sign: "·"},
	{Name: string(survival.Errored), Sign: "!"},
}

// newOutcome takes one that is not known for an error; the empty one is a cell in which
// nothing was run.
func newOutcome(o survival.Outcome) outcome {
	if o == "" {
		return outcome{Name: "none"}
	}
	for _, known := range outcomeSigns {
		if known.Name == string(o) {
			return known
		}
	}
	return outcomeSigns[len(outcomeSigns)-1]
}

func (b *Builder) exploration(r *survival.Result, n int) exploration {
	out := exploration{Scenario: line(r.Scenario, 200), Link: b.linkTo(r.Scenario), Verdict: newVerdict(explored.Verdict(r))}
	counts := r.Count()
	for _, o := range outcomeSigns {
		if c := counts[survival.Outcome(o.Name)]; c > 0 {
			out.Counts = append(out.Counts, outcomes{o, c})
		}
	}
	if r.NotRun > 0 {
		out.Stopped = fmt.Sprintf("%s not run: %s", count(r.NotRun, "planned run"), line(r.Stopped, 200))
	}
	for _, m := range explored.Matrices(r, maxHeat) {
		out.Matrices = append(out.Matrices, b.heat(r, m))
	}
	failures := explored.Failures(r)
	for i := range failures[:min(len(failures), maxItems)] {
		out.Failures = append(out.Failures, b.failure(r.Scenario, &failures[i]))
	}
	for _, l := range r.Left {
		out.Left = append(out.Left, line(l, 300))
	}
	for _, t := range explored.Reasons(r, survival.Unfired) {
		out.Left = append(out.Left, fmt.Sprintf("%s: %s", count(t.Runs, "run"), line(t.What, 300)))
	}
	out.Left = out.Left[:min(len(out.Left), maxItems)]
	return out
}

var families = map[survival.Family]string{
	survival.Faults: "Faults of the provider", survival.Latency: "Latency around timeouts", survival.Texts: "Changes of the reply's text",
	survival.Crashes: "Crashes at durable writes", survival.Users: "What people do",
}

func (b *Builder) heat(r *survival.Result, m explored.Matrix) heat {
	out := heat{Caption: cmp.Or(families[m.Family], words(string(m.Family))) + " by " + m.Point + ".", Point: m.Point}
	if m.Worst {
		out.Caption += " A row of several shows the worst of them."
	}
	for _, h := range m.Heads {
		out.Heads = append(out.Heads, line(h, 40))
	}
	for _, from := range m.Rows {
		row := heatRow{At: from.Ranges(), Name: line(from.Name, 40)}
		for i, o := range from.Cells {
			shown := newOutcome(o)
			if run := from.Runs[i]; o == survival.Failed && run >= 0 {
				shown.Link = b.runOf(r.Scenario, r.Cells[run].Shrunk, r.Cells[run].Perturb)
			}
			row.Cells = append(row.Cells, shown)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func (b *Builder) failure(golden string, f *explored.Failure) failure {
	out := failure{
		Rule: line(f.Finding.Rule, 60), Message: line(f.Finding.Message, 1000), Evidence: line(f.Finding.Evidence, 600),
		Runs: count(f.Runs, "run"), Command: line(f.Command, 500), Link: b.runOf(golden, f.Smallest),
	}
	for i, t := range f.By {
		if i == maxItems {
			break
		}
		if i > 0 {
			out.By += ", "
		}
		out.By += fmt.Sprintf("%s %d", line(t.What, 40), t.Runs)
	}
	return out
}

// runOf leads to the recorded run of the first perturbations that have one; empty if
// none has.
func (b *Builder) runOf(golden string, lists ...[]string) template.URL {
	for _, perturb := range lists {
		if id, ok := b.perturbed[key(golden, perturb)]; ok && len(perturb) > 0 {
			return link(id)
		}
	}
	return ""
}
