package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

const (
	maxFound   = 20 // of a kind; --json has all
	maxWeighed = 12
)

// showVerdict explains a verdict to a person, at most term.Columns() wide.
func showVerdict(out io.Writer, term tty.Terminal, name, message string, v stop.Verdict) error {
	view := &guardView{Page: console.Page{Term: term}, message: message}
	view.verdict(name, v)
	view.evidence(v.Detections)
	view.steps(v.Steps)
	view.signals(v.Signals)
	_, err := io.WriteString(out, view.String())
	return err
}

type guardView struct {
	console.Page
	message string
}

func (g *guardView) verdict(name string, v stop.Verdict) {
	says := func(mayStop bool) string {
		if mayStop {
			return g.Term.Paint(tty.Green, "may stop")
		}
		return g.Term.Paint(tty.Red, "must go on")
	}
	if name == "-" {
		name = "standard input"
	}
	fmt.Fprintf(&g.Page, "%s: %s\n", tty.Middle(sanitize.Line(name, console.MaxText), g.Term.Columns()-12), says(v.MayStop))
	if v.Reason != "" {
		g.Block(0, "", sanitize.Line(v.Reason, console.MaxText))
	}
	g.Line("\n%-9s %s, score %.2f", "class", v.Class, v.Score)
	for _, p := range policies {
		fmt.Fprintf(&g.Page, "%-9s %s\n", p, says(v.Policies[stop.Policy(p)]))
	}
}

// evidence lists the mentions with their places.
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
	g.Line("\nsteps left, about %s:", brieflyFor(total))
	for i, s := range all[:min(len(all), maxFound)] {
		facts := fmt.Sprintf("%s, about %s, at %s", s.Complexity, brieflyFor(s.Estimate), g.place(s.Start))
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

// signals lists what the score is made of.
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

// place is line:column of an offset, both from 1, the column in characters.
func (g *guardView) place(offset int) string {
	before := g.message[:min(max(offset, 0), len(g.message))]
	start := strings.LastIndexByte(before, '\n') + 1
	return fmt.Sprintf("%d:%d", strings.Count(before, "\n")+1, utf8.RuneCountInString(before[start:])+1)
}

// brieflyFor is a duration without zero parts: "5m" for "5m0s".
func brieflyFor(d time.Duration) string {
	s := d.Round(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = strings.TrimSuffix(s, zero[1:])
		}
	}
	return s
}
