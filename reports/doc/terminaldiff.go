package doc

import (
	"strings"

	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/diff"
)

// diff writes a difference with a sign before each line: what is missing in red, what is extra in
// green, with the changed words in reverse.
func (v *terminal) diff(indent int, d Diff) {
	if len(d.Lines) == 0 {
		return
	}
	blank := strings.Repeat(" ", indent)
	v.line(blank + v.t.Paint(console.Red, "- "+sanitize.Line(d.Before, maxSpan)) + "  " +
		v.t.Paint(console.Green, "+ "+sanitize.Line(d.After, maxSpan)))
	for _, line := range d.Lines {
		if v.t.Width > 0 && indent+2+console.Width(line.String()) > v.t.Columns() || !v.t.Color {
			v.folded(indent, func(part string) string { return v.paintLine(line.Kind, part) },
				line.Kind.Sign()+" "+sanitize.Text(line.String(), maxDiff))
			continue
		}
		v.line(blank + v.diffLine(line))
	}
}

// maxDiff limits a line of a difference, in characters.
const maxDiff = 2000

var lineColors = map[diff.Kind]console.Color{diff.Missing: console.Red, diff.Extra: console.Green, diff.Gap: console.Faint}

func (v *terminal) paintLine(kind diff.Kind, s string) string {
	if color, ok := lineColors[kind]; ok {
		return v.t.Paint(color, s)
	}
	return s
}

// diffLine returns a painted line that needs no folding.
func (v *terminal) diffLine(line diff.Line) string {
	color := lineColors[line.Kind]
	if color == "" {
		return "  " + sanitize.Text(line.String(), maxDiff)
	}
	b := v.t.Paint(color, line.Kind.Sign()+" ")
	for _, s := range line.Spans {
		part := color
		if s.Changed {
			part += ";7"
		}
		b += v.t.Paint(part, sanitize.Text(s.Text, maxDiff))
	}
	return b
}
