package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// shown is the number of proofs of a requirement that a terminal shows.
const shown = 3

// Terminal writes the table, at most term.Columns() wide, and a line of totals. It shows
// the most important proofs of each requirement, failed ones first.
func Terminal(w io.Writer, t Table, term console.Terminal) error {
	out := console.Table(2)
	out.AppendHeader(table.Row{"id", "status", "requirement and its proofs"})
	const rest = len("G-01") + 2 + len("no proof") + 2
	width := term.Columns() - rest
	for _, r := range t.Requirements {
		lines := []string{text.WrapSoft(r.Title, width)}
		proofs, more := foremost(r.Proofs)
		for _, p := range proofs {
			lines = append(lines, console.Middle("  "+describe(p), width))
		}
		if more > 0 {
			lines = append(lines, fmt.Sprintf("  and %d more that pass or were skipped", more))
		}
		out.AppendRow(table.Row{r.ID, paint(term, r.Status), strings.Join(lines, "\n")})
	}
	var b strings.Builder
	b.WriteString(out.Render() + "\n\n")
	for _, u := range t.Unknown {
		line := fmt.Sprintf("unknown id %s, named by %s %s", sanitize.Line(u.ID, 40), u.Proof.Kind, sanitize.Line(u.Proof.Name, 200))
		b.WriteString(term.Paint(console.Red, console.Middle(line, term.Columns())) + "\n")
	}
	b.WriteString(summary(t) + "\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the requirements: %w", err)
	}
	return nil
}

// foremost returns the proofs to show and the number of the others. It includes all failed
// proofs.
func foremost(proofs []Proof) (show []Proof, more int) {
	var rest []Proof
	for _, p := range proofs {
		if settled(p) {
			rest = append(rest, p)
		} else {
			show = append(show, p)
		}
	}
	n := min(len(rest), max(0, shown-len(show)))
	return append(show, rest[:n]...), len(rest) - n
}

// settled reports whether a proof passed or was skipped.
func settled(p Proof) bool { return p.Verdict == gate.Pass || p.Verdict == gate.Skip }

// describe returns one line about a proof; it omits the verdict "pass".
func describe(p Proof) string {
	line := fmt.Sprintf("%s %s", p.Kind, sanitize.Line(p.Name, 400))
	if p.Verdict != gate.Pass {
		line = fmt.Sprintf("%s: %s", sanitize.Line(string(p.Verdict), 20), line)
	}
	return line
}

func paint(term console.Terminal, s Status) string {
	switch s {
	case Proven:
		return term.Paint(console.Green, string(s))
	case Skipped:
		return term.Paint(console.Yellow, string(s))
	default:
		return term.Paint(console.Red, string(s))
	}
}

// summary counts the requirements by status.
func summary(t Table) string {
	count := map[Status]int{}
	for _, r := range t.Requirements {
		count[r.Status]++
	}
	parts := []string{fmt.Sprintf("%d of %d requirements proven", count[Proven], len(t.Requirements))}
	for _, s := range []Status{Refuted, Unclear, Skipped, None} {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	if n := len(t.Unknown); n > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown", n))
	}
	return strings.Join(parts, ", ")
}
