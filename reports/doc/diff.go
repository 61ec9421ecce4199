package doc

import (
	"html/template"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/diff"
)

// Diff is the difference between two foreign texts. HTML shows them side by side, the others line
// by line.
type Diff struct {
	// Before and After name the texts.
	Before, After string
	diff.Diff
}

func (Diff) block() {}

// NewDiff compares two texts.
func NewDiff(before, after, a, b string) Diff { return Diff{before, after, diff.Compare(a, b)} }

// Unified returns the difference line by line, with the sign of each line.
func (d Diff) Unified() []string {
	lines := make([]string, len(d.Lines))
	for i, l := range d.Lines {
		lines[i] = l.Kind.Sign() + " " + sanitize.Text(l.String(), maxDiff)
	}
	return lines
}

// diffRow is a row of two lines side by side; a nil one is empty.
type diffRow struct {
	Gap           string
	Before, After *diff.Line
}

// diffRows pairs the lines for a table.
func diffRows(d Diff) (rows []diffRow) {
	for i := 0; i < len(d.Lines); {
		line := &d.Lines[i]
		switch line.Kind {
		case diff.Gap:
			rows = append(rows, diffRow{Gap: line.String()})
			i++
		case diff.Same:
			rows = append(rows, diffRow{Before: line, After: line})
			i++
		default:
			var missing, extra []*diff.Line
			for ; i < len(d.Lines) && (d.Lines[i].Kind == diff.Missing || d.Lines[i].Kind == diff.Extra); i++ {
				if d.Lines[i].Kind == diff.Missing {
					missing = append(missing, &d.Lines[i])
				} else {
					extra = append(extra, &d.Lines[i])
				}
			}
			for j := range max(len(missing), len(extra)) {
				var r diffRow
				if j < len(missing) {
					r.Before = missing[j]
				}
				if j < len(extra) {
					r.After = extra[j]
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// spansHTML returns a line with its changed words marked.
func spansHTML(spans []diff.Span) template.HTML {
	var out template.HTML
	for _, s := range spans {
		text := template.HTML(template.HTMLEscapeString(sanitize.Text(s.Text, 0))) //nolint:gosec // escaped
		if s.Changed {
			text = "<mark>" + text + "</mark>"
		}
		out += text
	}
	return out
}
