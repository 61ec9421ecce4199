package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Bounds on foreign texts, in bytes. Of a longer text the beginning and the end are
// shown: models put what matters there.
const (
	maxText = 16 << 10
	headOf  = maxText * 3 / 4
	tailOf  = maxText - headOf
	// foldAbove is the length from which a text is folded.
	foldAbove = 1500
	// maxLine limits foreign text of one line, in characters.
	maxLine = 500
)

// mark is a quotation to highlight, with the reason.
type mark struct{ quote, why string }

// text is a rendered foreign text.
type text struct {
	Parts []part
	// Folded texts show Opening until they are opened.
	Folded  bool
	Opening string
	// Size is the length of a folded text.
	Size string
}

// part is a stretch of a text in one style.
type part struct {
	Text string
	// Why is the reason of a highlight.
	Why string
	// Left notes a part that is left out.
	Left string
}

// newText prepares a foreign text: it cuts long texts, escapes invisible characters and marks
// quotations.
func newText(s string, marks []mark) text {
	var t text
	if len(s) > maxText {
		head, tail := s[:start(s, headOf)], s[start(s, len(s)-tailOf):]
		t.Parts = append(t.Parts, marked(sanitize.Text(head, 0), marks)...)
		t.Parts = append(t.Parts, part{Left: format.Number(float64(len(s)-len(head)-len(tail))) +
			" bytes are left out here; the recording has them"})
		t.Parts = append(t.Parts, marked(sanitize.Text(tail, 0), marks)...)
	} else {
		t.Parts = marked(sanitize.Text(s, 0), marks)
	}
	if len(s) > foldAbove {
		t.Folded, t.Opening, t.Size = true, line(s, 160), format.Number(float64(len(s)))+" bytes"
	}
	return t
}

// start returns the last position at or before i at which a character begins.
func start(s string, i int) int {
	for from := i; i > 0 && i > from-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return i
}

// line returns foreign text on one line.
func line(s string, limit int) string { return sanitize.Line(s, cmp.Or(limit, maxLine)) }

// marked splits s at the first occurrence of each quotation. Overlapping ones are left out.
func marked(s string, marks []mark) []part {
	type span struct {
		from, to int
		why      string
	}
	var spans []span
	for _, m := range marks {
		quote := sanitize.Text(m.quote, 0)
		if at := strings.Index(s, quote); quote != "" && at >= 0 {
			spans = append(spans, span{at, at + len(quote), m.why})
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var parts []part
	done := 0
	for _, at := range spans {
		if at.from < done {
			continue
		}
		if at.from > done {
			parts = append(parts, part{Text: s[done:at.from]})
		}
		parts = append(parts, part{Text: s[at.from:at.to], Why: at.why})
		done = at.to
	}
	if done < len(s) {
		parts = append(parts, part{Text: s[done:]})
	}
	return parts
}

// fact is a name with its value.
type fact struct{ Name, Value string }

var separators = strings.NewReplacer("_", " ", "-", " ")

// words turns the name of a measure or an attribute into words.
func words(name string) string { return separators.Replace(name) }

func attr(v any) string {
	switch v := v.(type) {
	case string:
		return line(v, 0)
	case float64:
		return format.Number(v)
	default:
		return line(fmt.Sprint(v), 0)
	}
}
