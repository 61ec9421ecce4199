// Package cli prints the verdicts and counts of the stop guard for a person.
package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Limits on what is shown of each kind; --json has all.
const (
	maxFound   = 20 // detections and steps
	maxWeighed = 12 // signals
)

// PrintVerdict explains the verdict on a message, which was read from a file or "-", at most
// term.Columns() wide.
func PrintVerdict(out io.Writer, term console.Terminal, name, message string, v stop.Verdict) error {
	view := &guardView{Page: console.Page{Term: term}, message: message}
	view.verdict(name, v)
	view.evidence(v.Detections)
	view.steps(v.Steps)
	view.signals(v.Signals)
	_, err := io.WriteString(out, view.String())
	return err
}

// guardView collects the explanation of a verdict.
type guardView struct {
	console.Page
	message string
}

func (g *guardView) verdict(name string, v stop.Verdict) {
	paint := func(mayStop bool) string {
		if mayStop {
			return g.Term.Paint(console.Green, "may stop")
		}
		return g.Term.Paint(console.Red, "must go on")
	}
	if name == "-" {
		name = "standard input"
	}
	fmt.Fprintf(&g.Page, "%s: %s\n", console.Middle(sanitize.Line(name, console.MaxText), g.Term.Columns()-12), paint(v.MayStop))
	if v.Reason != "" {
		g.Block(0, "", sanitize.Line(v.Reason, console.MaxText))
	}
	g.Line("")
	g.Block(10, "class", fmt.Sprintf("%s (%s)", v.Class, probabilities(v)))
	for _, p := range stop.Policies() {
		fmt.Fprintf(&g.Page, "%-9s %s\n", p, paint(v.Policies[p]))
	}
}

// probabilities lists the classes, the most probable first.
func probabilities(v stop.Verdict) string {
	classes := slices.SortedStableFunc(maps.Keys(v.Probabilities), func(a, b stop.Class) int {
		return cmp.Or(cmp.Compare(v.Probabilities[b], v.Probabilities[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(classes))
	for i, c := range classes {
		parts[i] = fmt.Sprintf("%s %.2f", c, v.Probabilities[c])
	}
	return strings.Join(parts, ", ")
}

// evidence lists the detections with their places.
func (g *guardView) evidence(all []stop.Detection) {
	if len(all) == 0 {
		return
	}
	g.Line("\nfound:")
	for _, d := range all[:min(len(all), maxFound)] {
		judged := fmt.Sprintf("%s, %s", d.Category, d.Severity)
		if !d.Real {
			judged = fmt.Sprintf("%s, a mere reference", d.Category)
		}
		g.Block(10, "  "+g.place(d.Start), `"`+sanitize.Line(d.Text, console.MaxText)+`"`)
		g.Block(10, "", judged)
		if d.Context != "" && d.Context != d.Text {
			g.Block(10, "", "in: "+sanitize.Line(d.Context, console.MaxText))
		}
		if d.Why != "" {
			g.Block(10, "", "why: "+sanitize.Line(d.Why, console.MaxText))
		}
	}
	g.more(len(all) - maxFound)
}

func (g *guardView) steps(all []stop.Step) {
	if len(all) == 0 {
		return
	}
	var total time.Duration
	numbers := map[string]int{}
	for i, s := range all {
		total += s.Estimate
		numbers[s.ID] = i + 1
	}
	g.Line("\nsteps left, about %s:", shortDuration(total))
	for i, s := range all[:min(len(all), maxFound)] {
		facts := fmt.Sprintf("%s, about %s, at %s", s.Complexity, shortDuration(s.Estimate), g.place(s.Start))
		for _, id := range s.DependsOn {
			facts += fmt.Sprintf(", after %d", numbers[id])
		}
		if s.NeedsUser {
			facts += "; only the user decides on it"
		}
		g.Block(10, fmt.Sprintf("  %d.", i+1), sanitize.Line(s.Description, console.MaxText))
		g.Block(10, "", facts)
	}
	g.more(len(all) - maxFound)
}

// signals lists the parts of the score.
func (g *guardView) signals(all []stop.Signal) {
	if len(all) == 0 {
		return
	}
	g.Line("\nsignals, in log-odds (+ speaks for deferral):")
	for _, s := range all[:min(len(all), maxWeighed)] {
		line := fmt.Sprintf("  %+7.2f %s", s.Weight, sanitize.Line(s.Name, console.MaxText))
		if s.Count > 1 {
			line += fmt.Sprintf(" x%d", s.Count)
		}
		if s.Text != "" {
			line += fmt.Sprintf(` at %s "%s"`, g.place(s.Start), sanitize.Line(s.Text, console.MaxText))
		}
		g.Line("%s", line)
	}
	g.more(len(all) - maxWeighed)
}

func (g *guardView) more(n int) {
	if n > 0 {
		g.Line("  and %d more; --json has all", n)
	}
}

// place returns line:column of an offset, both from 1, the column in characters.
func (g *guardView) place(offset int) string {
	before := g.message[:min(max(offset, 0), len(g.message))]
	start := strings.LastIndexByte(before, '\n') + 1
	return fmt.Sprintf("%d:%d", strings.Count(before, "\n")+1, utf8.RuneCountInString(before[start:])+1)
}

// shortDuration returns a duration without zero parts: "5m" for "5m0s".
func shortDuration(d time.Duration) string {
	s := d.Round(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = strings.TrimSuffix(s, zero[1:])
		}
	}
	return s
}
