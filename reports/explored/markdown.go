package explored

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Marker is the hidden first line of the Markdown, by which a later run finds its own
// comment on a pull request and replaces it.
const Marker = "<!-- rehearse:explore -->"

// defaultMaxBytes keeps Markdown below the 1 MiB that GitHub takes for the summary of
// a step.
const defaultMaxBytes = 1000 << 10

// Markdown writes the same as Terminal, the failures first: what exceeds limit bytes
// (0: 1,024,000) is left out and counted. All text that is not ours stands in code
// spans.
func Markdown(w io.Writer, r *survival.Result, limit int) error {
	b := format.Page{Left: cmp.Or(limit, defaultMaxBytes)}
	b.Head(fmt.Sprintf("%s\n## Exploration: **%s** %s\n\n%s; the golden path has %s\n", Marker,
		strings.ToUpper(verdictWord(r)), sanitize.Code(r.Scenario, maxName), summaryMarkdown(r), extent(r)))
	counts := "\n| family | runs |"
	rule := "|---|--:|"
	for _, s := range symbols {
		counts += " " + s.means + " |"
		rule += "--:|"
	}
	counts += "\n" + rule + "\n"
	for _, c := range Counts(r) {
		cells := c.cells()
		if c.Family != "" {
			cells[0] = sanitize.Code(cells[0], maxName)
		}
		counts += "| " + strings.Join(cells, " | ") + " |\n"
	}
	if r.Covered != "" {
		counts += "\n" + sanitize.Code(r.Covered, maxMessage) + "\n"
	}
	b.Head(counts)
	failures := Failures(r)
	if len(failures) > 0 {
		b.Head("\n### Failures\n\n")
	}
	format.Lines(&b, "failures", failures, markdownFailure)
	for _, part := range []struct {
		title   string
		outcome survival.Outcome
	}{{"No verdict", survival.Errored}, {"Could not happen", survival.Unfired}} {
		reasons := Reasons(r, part.outcome)
		if len(reasons) > 0 {
			b.Head("\n### " + part.title + "\n\n")
		}
		format.Lines(&b, "reasons", reasons, func(t Tally) string {
			return fmt.Sprintf("- %s: %s\n", format.Plural(t.Runs, "run"), sanitize.Code(t.What, maxMessage))
		})
	}
	if len(r.Left) > 0 {
		b.Head("\n### Left out\n\n")
	}
	format.Lines(&b, "families left out", r.Left, func(left string) string { return "- " + sanitize.Code(left, maxMessage) + "\n" })
	matrices := Matrices(r, maxRows)
	if len(matrices) > 0 {
		b.Head("\n### Survival\n\n" + markdownSymbols() + "\n")
	}
	format.Lines(&b, "matrices", matrices, markdownMatrix)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the exploration as Markdown: %w", err)
	}
	return nil
}

// summaryMarkdown is summary with what is not ours in code spans.
func summaryMarkdown(r *survival.Result) string {
	ours := *r
	ours.Stopped = ""
	text := summary(&ours)
	if r.Stopped != "" {
		text += " (" + sanitize.Code(r.Stopped, maxName) + ")"
	}
	return text
}

func markdownFailure(f Failure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s, broken by %s\n", sanitize.Code(f.Finding.Message, maxMessage), format.Plural(f.Runs, "run"))
	if f.Finding.Evidence != "" {
		fmt.Fprintf(&b, "  - saw %s\n", sanitize.Code(f.Finding.Evidence, maxMessage))
	}
	fmt.Fprintf(&b, "  - by %s\n", sanitize.Code(tallies(f.By), maxMessage))
	fmt.Fprintf(&b, "  - smallest: %s\n", sanitize.Code(strings.Join(f.Smallest, " and "), maxMessage))
	if f.Command != "" {
		fmt.Fprintf(&b, "  - again: %s\n", sanitize.Code(f.Command, 0))
	}
	return b.String()
}

func markdownSymbols() string {
	var parts []string
	for _, s := range symbols {
		parts = append(parts, fmt.Sprintf("`%s` %s", s.mark, s.means))
	}
	return strings.Join(parts, ", ")
}

// markdownMatrix is a table with what happens down, which has the long names, and
// the places across.
func markdownMatrix(m Matrix) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**%s**: %s\n\n| |", m.Family, headline(&m))
	for _, row := range m.Rows {
		fmt.Fprintf(&b, " %s |", sanitize.Code(rowLabel(&m, row), 60))
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(m.Rows)) + "\n")
	for i, head := range m.Heads {
		fmt.Fprintf(&b, "| %s |", sanitize.Code(head, maxName))
		for _, row := range m.Rows {
			mark := symbolOf(row.Cells[i]).mark
			if row.Cells[i] == survival.Failed {
				mark = "**" + mark + "**"
			}
			fmt.Fprintf(&b, " %s |", sanitize.Code(mark, 0))
		}
		b.WriteString("\n")
	}
	return b.String()
}
