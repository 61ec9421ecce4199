package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/reports/explored"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// exploration is what was found off a golden path.
type exploration struct {
	Scenario string
	Link     template.URL
	Verdict  verdict
	Counts   []outcomes
	Stopped  string
	Failures []failure
	More     []failure // beyond those to be seen at once
	Beyond   int       // beyond these
	Matrices []heat
	// Maps show the same place by place. Open says whether that tells more.
	Maps []picture
	Open bool
	// Unknown and Left say why runs have no verdict, and what was not tried.
	Unknown, Left []string
}

// outcome is an outcome with the sign that it has beside its colour.
type outcome struct {
	Name, Sign, Says string
	Link             template.URL
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

// failure is one thing that is broken.
type failure struct {
	Rule, Message, Evidence, Runs, By, Smallest, Command string
	Link                                                 template.URL
}

// maxFirst is how many failures stand above the heat maps, unfolded.
const maxFirst = 4

const (
	// maxHeat is how many rows a table has.
	maxHeat = 60
	// maxPlaces is how many places its rows tell apart well enough.
	maxPlaces = 12
)

// places counts the places of a path.
func places(m explored.Matrix) int {
	n := 0
	for _, row := range m.Rows {
		n += len(row.At)
	}
	return n
}

var outcomeSigns = []outcome{
	{Name: string(survival.Survived), Sign: "✓", Says: "survived"},
	{Name: string(survival.Degraded), Sign: "~", Says: "degraded"},
	{Name: string(survival.Failed), Sign: "✗", Says: "failed"},
	{Name: string(survival.Unfired), Sign: "–", Says: "could not happen"},
	{Name: string(survival.Errored), Sign: "!", Says: "no verdict"},
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
		out.Open = out.Open || len(m.Rows) > 1 && places(m) > maxPlaces
	}
	for _, p := range plot.Survival(r) {
		out.Maps = append(out.Maps, newPicture(p))
	}
	out.Failures, out.More, out.Beyond = b.failures(r)
	out.Unknown = reasons(r, survival.Errored)
	for _, l := range r.Left {
		out.Left = append(out.Left, line(l, 300))
	}
	out.Left = append(out.Left, reasons(r, survival.Unfired)...)
	out.Left = out.Left[:min(len(out.Left), maxItems)]
	return out
}

// reasons say why runs came out as they did, the most frequent reason first.
func reasons(r *survival.Result, o survival.Outcome) []string {
	var list []string
	for _, t := range explored.Reasons(r, o) {
		list = append(list, fmt.Sprintf("%s: %s", count(t.Runs, "run"), line(t.What, 300)))
	}
	return list[:min(len(list), maxItems)]
}

// failures are what is broken, each thing once: what most runs broke comes first.
func (b *Builder) failures(r *survival.Result) (first, more []failure, beyond int) {
	found := explored.Failures(r)
	slices.SortStableFunc(found, func(a, b explored.Failure) int { return b.Runs - a.Runs })
	var list []failure
	for i := range found[:min(len(found), maxItems)] {
		list = append(list, b.failure(r.Scenario, &found[i]))
	}
	beyond = len(found) - len(list)
	if len(list) <= maxFirst+1 { // one more takes no more room than the words for it
		return list, nil, beyond
	}
	return list[:maxFirst], list[maxFirst:], beyond
}

var families = map[survival.Family]string{
	survival.Faults: "Faults of the provider", survival.Outages: "Faults until the agent gives up", survival.Latency: "Latency around timeouts", survival.Texts: "Changes of the reply's text",
	survival.Crashes: "Crashes at durable writes", survival.Users: "What people do",
}

func (b *Builder) heat(r *survival.Result, m explored.Matrix) heat {
	out := heat{Caption: cmp.Or(families[m.Family], words(string(m.Family))) + " by " + m.Point + ".", Point: m.Point}
	if m.Worst {
		out.Caption += " A row of several shows the worst of them."
	}
	if m.Note != "" {
		out.Caption += " In groups: " + m.Note + "."
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
	message, evidence := said(f.Finding)
	out := failure{
		Rule: line(f.Finding.Rule, 60), Message: line(message, 1000), Evidence: line(evidence, 600), Runs: count(f.Runs, "run"),
		Smallest: line(strings.Join(f.Smallest, " "), 300), Command: line(f.Command, 500), Link: b.runOf(golden, f.Smallest),
	}
	for i, t := range f.By {
		if i == maxItems {
			break
		}
		if i > 0 {
			out.By += ", "
		}
		out.By += line(t.What, 40)
		if t.Runs > 1 {
			out.By += fmt.Sprintf(" ×%d", t.Runs)
		}
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
