package page

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/reports/explored"
)

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

func (b *Builder) exploration(r *survival.Result) exploration {
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
		row := heatRow{At: strings.ReplaceAll(from.Ranges(), ",", ", "), Name: line(from.Name, 40)}
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
