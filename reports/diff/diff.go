// Package diff compares an expected with an actual value for people. Compare returns the lines to
// show: JSON is compared by structure, so neither the order of keys nor white space matters, and
// text by lines and words. Renderers colour the lines by their Kind and must escape their text, which
// is of unknown origin.
package diff

import "strings"

// Kind is what a line shows.
type Kind string

// The kinds of lines.
const (
	Same    Kind = "same"    // in both values
	Missing Kind = "missing" // only in the expected value
	Extra   Kind = "extra"   // only in the actual value
	Gap     Kind = "gap"     // a note on lines that are left out
)

// Sign returns the character before a line of this kind: "-", "+", "…" or a blank.
func (k Kind) Sign() string {
	switch k {
	case Missing:
		return "-"
	case Extra:
		return "+"
	case Gap:
		return "…"
	default:
		return " "
	}
}

// Line is a line of a Diff, without its line break.
type Line struct {
	Kind  Kind   `json:"kind"`
	Spans []Span `json:"spans"`
	// around is true for the first and last line of an object or array with a difference, which are
	// never left out.
	around bool
}

// String returns the text of a line, without the sign of its kind.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Span is a part of a line. Changed marks the words that differ from the other value, in a line that
// has a similar one there.
type Span struct {
	Text    string `json:"text"`
	Changed bool   `json:"changed,omitempty"`
}

// Diff is the difference between two values. It has no lines if they are equal.
type Diff struct {
	Lines []Line `json:"lines"`
	// JSON is true if the values were compared by structure.
	JSON bool `json:"json,omitempty"`
	// Shortened is true if a value or the result exceeded a limit, so the lines do not show
	// everything.
	Shortened bool `json:"shortened,omitempty"`
}

// The limits of a comparison. Time and memory grow with the square of maxEdits.
const (
	maxBytes = 64 << 10 // of each value
	maxLines = 120      // of a result
	maxDepth = 64       // of JSON; a deeper value is compared as text
	maxEdits = 400      // between two sequences; more are shown as a replacement
	context  = 3        // equal lines around a difference
)

// Compare returns the difference between an expected and an actual value. If both are JSON objects or
// both are arrays it compares their structure, else their lines. It reads at most 64 KiB of each.
func Compare(expected, actual string) Diff {
	if expected == actual {
		return Diff{}
	}
	if len(expected) <= maxBytes && len(actual) <= maxBytes {
		a, aOK := parseJSON(expected)
		b, bOK := parseJSON(actual)
		if aOK && bOK && sameKind(a, b) {
			return limited(Diff{Lines: compareJSON(a, b), JSON: true})
		}
	}
	d := Diff{Shortened: len(expected) > maxBytes || len(actual) > maxBytes}
	d.Lines = compareText(start(expected), start(actual))
	if d = limited(d); len(d.Lines) == 0 {
		d.Lines = []Line{gap("the first 64 KiB are equal")}
	}
	return d
}

// start returns the beginning of a text, up to the limit.
func start(s string) string {
	if len(s) > maxBytes {
		s = strings.ToValidUTF8(s[:maxBytes], "")
	}
	return s
}

func gap(note string) Line { return Line{Kind: Gap, Spans: []Span{{Text: note}}} }

func plain(kind Kind, text string) Line { return Line{Kind: kind, Spans: []Span{{Text: text}}} }
