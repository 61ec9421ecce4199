package doc

import (
	"io"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Limits on foreign text for people, in characters.
const (
	maxSpan     = 500
	maxEvidence = 300
)

// Terminal writes the document for a person. On a terminal no line is wider than t.Columns(),
// except commands; in a file names and tables stay whole. Control characters of foreign text are
// escaped.
func Terminal(w io.Writer, d Document, t console.Terminal) error {
	v := terminal{t: t, fresh: true}
	v.facts(Facts(d.Origin))
	v.gap()
	if d.Terminal != nil {
		d = *d.Terminal
	}
	v.facts(d.Figures)
	v.gap()
	v.blocks(d.Body)
	v.blocks(d.Lead)
	v.conclusion(d)
	return write(w, v.String())
}

// terminal collects the lines of a document.
type terminal struct {
	strings.Builder
	t console.Terminal
	// fresh is true at the start and below a heading, where no blank line is wanted.
	fresh bool
}

func (v *terminal) line(s string) {
	v.WriteString(strings.TrimRight(s, " ") + "\n")
	v.fresh = false
}

// gap separates the next block from the previous one.
func (v *terminal) gap() {
	if !v.fresh {
		v.WriteString("\n")
	}
	v.fresh = true
}

func (v *terminal) blocks(list []Block) {
	for i, b := range list {
		if i > 0 && isSection(list[i-1]) {
			v.gap()
		}
		v.block(b)
	}
}

func isSection(b Block) bool { _, ok := b.(Section); return ok }

func (v *terminal) block(b Block) {
	switch b := b.(type) {
	case Section:
		v.gap()
		v.wrap(0, 0, v.paint(b.Title, orTone(b.Tone, Strong)))
		v.fresh = len(b.Blocks) > 0
		v.blocks(b.Blocks)
	case Paragraph:
		v.paragraph(0, 0, Text(b))
	case Facts:
		v.facts(b)
	case Table:
		v.gap()
		v.table(b)
	case List:
		n, note := shown(len(b.Items), b.Max, b.Noun)
		v.list(b.Items[:n], b.Spaced)
		v.note(note)
	case Matrix:
		v.gap()
		v.matrix(b)
	case Plot:
		if len(b.Chart) > 0 {
			v.gap()
		}
		for _, line := range b.Chart {
			v.line(line)
		}
	case Preformatted:
		v.evidence(0, string(b))
	case Diff:
		v.diff(0, b)
	case Details:
	}
}

func orTone(tone, other Tone) Tone {
	if tone == Plain {
		return other
	}
	return tone
}

func (v *terminal) note(s string) {
	if s != "" {
		v.line("  " + s)
	}
}

var colors = map[Tone]console.Color{
	Good: console.Green, Bad: console.Red, Broken: console.Red, Unsure: console.Yellow,
	Info: console.Bold, Faint: console.Faint, Strong: console.Bold,
}

// paint returns a text with its colours; spans without a tone have the tone of the text.
func (v *terminal) paint(t Text, tone Tone) string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(v.color(orTone(s.Tone, tone), s.clean()))
	}
	return b.String()
}

func (v *terminal) color(tone Tone, s string) string {
	if tone == Plain {
		return s
	}
	return v.t.Paint(colors[tone], s)
}

// clean returns the text on one line, without invisible characters.
func (s Span) clean() string {
	switch s.kind {
	case foreign:
		return sanitize.Line(s.Text, maxSpan)
	case command:
		return sanitize.Line(s.Text, 0)
	default:
		inner := strings.Trim(s.Text, " ")
		before, after, _ := strings.Cut(s.Text, inner)
		return before + sanitize.Line(inner, 0) + after
	}
}

// String returns a text without its colours.
func (t Text) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.clean())
	}
	return b.String()
}

// wrap writes painted text in lines that fit: the first one is indented by first
// columns, the others by rest.
func (v *terminal) wrap(first, rest int, s string) {
	indent := first
	for _, line := range v.fold(s, v.t.Columns()-rest) {
		v.line(strings.Repeat(" ", indent) + strings.TrimSpace(line))
		indent = rest
	}
}

// fold breaks painted text into lines of at most width columns. In a file longer words stay
// whole, so names can be searched for.
func (v *terminal) fold(s string, width int) []string { return console.Fold(s, width, v.t.Width > 0) }

// paragraph writes a text, wrapped unless it has a command.
func (v *terminal) paragraph(first, rest int, t Text) {
	if t.hasCommand() {
		v.line(strings.Repeat(" ", first) + v.paint(t, Plain))
		return
	}
	v.wrap(first, rest, v.paint(t, Plain))
}

func (t Text) hasCommand() bool {
	return slices.ContainsFunc(t, func(s Span) bool { return s.kind == command })
}

// maxFactName limits the width of the names of facts.
const maxFactName = 36

func (v *terminal) facts(list Facts) {
	width := 0
	for _, f := range list {
		width = max(width, min(console.Width(f.Name), maxFactName, v.t.Columns()/2))
	}
	for _, f := range list {
		name := v.t.Paint(console.Faint, f.Name) + strings.Repeat(" ", max(0, width-console.Width(f.Name)))
		value := v.paint(f.Value, Plain)
		if len(f.Note) > 0 {
			value += " (" + v.paint(f.Note, Plain) + ")"
		}
		indent := strings.Repeat(" ", width+4)
		if v.t.Width > 0 && console.Width(f.Name) > width {
			v.wrap(2, 4, v.t.Paint(console.Faint, f.Name))
			name = strings.Repeat(" ", width)
		}
		if f.Value.hasCommand() { // it can be copied only as a whole
			v.line("  " + name + "  " + value)
			continue
		}
		for i, line := range v.fold(value, v.t.Columns()-len(indent)) {
			if i == 0 {
				v.line("  " + name + "  " + strings.TrimSpace(line))
			} else {
				v.line(indent + strings.TrimSpace(line))
			}
		}
	}
}

// list writes items, spaced ones with a blank line before each that has several lines.
func (v *terminal) list(items []Item, spaced bool) {
	for i, item := range items {
		if spaced && i > 0 && len(item.Items)+len(items[i-1].Items) > 0 {
			v.gap()
		}
		v.items(2, []Item{item})
	}
}

func (v *terminal) items(indent int, list []Item) {
	for _, item := range list {
		v.paragraph(indent, indent+4, item.Text)
		v.evidence(indent+2, item.Evidence)
		v.diff(indent+2, item.Diff)
		v.items(indent+2, item.Items)
	}
}

func (v *terminal) evidence(indent int, s string) {
	for _, line := range sanitize.Lines(s, maxEvidence) {
		v.folded(indent, func(part string) string { return v.t.Paint(console.Faint, part) }, line)
	}
}

// folded writes a line that keeps its indentation, in parts that fit a terminal.
func (v *terminal) folded(indent int, paint func(string) string, line string) {
	blank := strings.Repeat(" ", indent)
	if v.t.Width == 0 {
		v.line(blank + paint(line))
		return
	}
	rest := strings.TrimLeft(line, " ")
	blank += strings.Repeat(" ", min(len(line)-len(rest), v.t.Columns()/4))
	for _, part := range console.Fold(rest, v.t.Columns()-len(blank), true) {
		v.line(blank + paint(part))
	}
}

// conclusion writes the verdict and the summary.
func (v *terminal) conclusion(d Document) {
	line := v.paint(Line(Toned(d.Tone, d.Verdict)), Strong)
	if len(d.Name) > 0 {
		line = strings.TrimPrefix(line+" "+v.paint(d.Name, Strong), " ")
	}
	if line == "" && len(d.Summary) == 0 {
		return
	}
	v.gap()
	if line != "" && len(d.Summary) > 0 {
		line += ": "
	}
	v.wrap(0, 2, line+v.paint(d.Summary, Plain))
}

// matrix draws a matrix in as many bands as its columns need.
func (v *terminal) matrix(m Matrix) {
	v.paragraph(0, 2, m.Caption)
	label := 0
	for _, row := range m.Rows {
		label = max(label, console.Width(sanitize.Line(row.Name, maxSpan)))
	}
	const gap = 2
	width := 2 // of a column
	if len(m.Heads)*width > v.t.Columns()*2/3 {
		width = 1
	}
	label = min(label, max(v.t.Columns()/3, v.t.Columns()-gap-len(m.Heads)*width))
	room := v.t.Columns() - label - gap
	for from := 0; from < len(m.Heads); {
		to := min(from+min((room+width-1)/width, len(letters)), len(m.Heads))
		v.band(m, from, to, label, width)
		from = to
	}
}

// letters name the columns of a band.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// band draws the columns from from to before to, under letters that are explained below.
func (v *terminal) band(m Matrix, from, to, label, width int) {
	cells := func(mark func(i int) string) string {
		marks := make([]string, 0, to-from)
		for i := from; i < to; i++ {
			marks = append(marks, mark(i))
		}
		return strings.Join(marks, strings.Repeat(" ", width-1))
	}
	v.line(strings.Repeat(" ", label+2) + cells(func(i int) string { return letters[i-from : i-from+1] }))
	for _, row := range m.Rows {
		name := console.Middle(sanitize.Line(row.Name, maxSpan), label)
		v.line(name + strings.Repeat(" ", label+2-console.Width(name)) + cells(func(i int) string {
			return v.color(row.Cells[i].Tone, row.Cells[i].sign())
		}))
	}
	var legend []string
	for i := from; i < to; i++ {
		legend = append(legend, letters[i-from:i-from+1]+" "+sanitize.Line(m.Heads[i], maxSpan))
	}
	v.inline(2, legend)
}

func (m Mark) sign() string {
	if m.Sign == "" {
		return " "
	}
	return m.Sign
}

// inline writes items two blanks apart, none of them over two lines.
func (v *terminal) inline(indent int, items []string) {
	line := ""
	for _, item := range items {
		if line != "" && indent+console.Width(line)+2+console.Width(item) > v.t.Columns() {
			v.line(strings.Repeat(" ", indent) + line)
			line = ""
		}
		if line != "" {
			line += "  "
		}
		line += console.Middle(item, v.t.Columns()-indent)
	}
	v.line(strings.Repeat(" ", indent) + line)
}
