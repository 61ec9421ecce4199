package doc

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// defaultMaxBytes is below the 1 MiB that GitHub accepts for the summary of a step. A comment on
// a pull request is limited to 65,536 characters.
const defaultMaxBytes = 1000 << 10

// Markdown writes the document for the summary of a CI step or a comment, in at most limit bytes
// (0: 1,024,000). The longest tables and lists are cut to fit, with a note on the rest. Foreign
// text is in code spans, so it cannot be Markdown, HTML, a mention or a link.
func Markdown(w io.Writer, d Document, limit int) error {
	var m markdown
	if d.Marker != "" {
		m.add(d.Marker + "\n")
	}
	m.title(d)
	m.block(d.Figures)
	m.blocks(d.Lead)
	m.blocks(d.Body)
	return write(w, m.fit(cmp.Or(limit, defaultMaxBytes)))
}

// markdown collects the parts of a document.
type markdown struct {
	parts []part
	depth int // of sections
}

// part is a text with items, of which some may be left out.
type part struct {
	head  string
	items []string
	noun  string
}

func (m *markdown) add(head string) { m.parts = append(m.parts, part{head: head}) }

func (m *markdown) title(d Document) {
	title := "## " + d.Kind
	if len(d.Name) > 0 {
		title += " " + inMarkdown(d.Name)
	}
	if d.Verdict != "" {
		word, rest, _ := strings.Cut(d.Verdict, " ")
		title += strings.TrimSuffix(": **"+strings.ToUpper(word)+"** "+rest, " ")
	}
	m.add(title + "\n")
	if len(d.Summary) > 0 {
		m.add("\n" + inMarkdown(d.Summary) + "\n")
	}
}

func (m *markdown) blocks(list []Block) {
	for _, b := range list {
		m.block(b)
	}
}

func (m *markdown) block(b Block) {
	switch b := b.(type) {
	case Section:
		m.add("\n" + strings.Repeat("#", min(m.depth+3, 6)) + " " + inMarkdown(b.Title) + "\n")
		m.depth++
		m.blocks(b.Blocks)
		m.depth--
	case Paragraph:
		m.add("\n" + inMarkdown(Text(b)) + "\n")
	case Facts:
		m.facts(b)
	case Table:
		m.table(b)
	case List:
		m.list(b)
	case Matrix:
		m.matrix(b)
	case Plot:
		if len(b.Chart) > 0 {
			m.add(fenced(strings.Join(b.Chart, "\n")))
		}
	case Preformatted:
		m.add(fenced(sanitize.Text(string(b), 0)))
	case Diff:
		m.add(fenced(strings.Join(b.Unified(), "\n")))
	case Details:
		m.details(b)
	}
}

// fenced returns text as a code block, whose fence is longer than any in the text.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return "\n" + fence + "text\n" + s + "\n" + fence + "\n"
}

// inMarkdown returns a text as Markdown of one line.
func inMarkdown(t Text) string {
	var b strings.Builder
	for _, s := range t {
		text := s.clean()
		switch s.kind {
		case foreign:
			text = sanitize.Code(s.Text, maxSpan)
		case command:
			text = sanitize.Code(s.Text, 0)
		default:
			text = markup.Replace(text)
		}
		if text != "" && slices.Contains([]Tone{Bad, Broken, Strong}, s.Tone) {
			text = "**" + text + "**"
		}
		b.WriteString(text)
	}
	return b.String()
}

// markup escapes markup in words of this program.
var markup = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "<", "&lt;", "|", `\|`)

func (m *markdown) facts(list Facts) {
	p := part{head: "\n", noun: "facts"}
	for _, f := range list {
		item := "- " + markup.Replace(f.Name) + ": " + inMarkdown(f.Value)
		if len(f.Note) > 0 {
			item += " (" + inMarkdown(f.Note) + ")"
		}
		p.items = append(p.items, item+"\n")
	}
	if len(list) > 0 {
		m.parts = append(m.parts, p)
	}
}

func (m *markdown) table(t Table) {
	if t.Caption != "" {
		m.add("\n" + markup.Replace(t.Caption) + "\n")
	}
	var head, rule strings.Builder
	for _, c := range t.Columns {
		head.WriteString(" " + inMarkdown(c.Head) + " |")
		if c.Right {
			rule.WriteString("--:|")
		} else {
			rule.WriteString("---|")
		}
	}
	p := part{head: "\n|" + head.String() + "\n|" + rule.String() + "\n", noun: t.Noun}
	for _, row := range t.Rows {
		var cells strings.Builder
		for _, cell := range row {
			cells.WriteString(" " + inMarkdown(cell) + " |")
		}
		p.items = append(p.items, "|"+cells.String()+"\n")
	}
	m.parts = append(m.parts, p)
}

func (m *markdown) list(l List) {
	p := part{head: "\n", noun: l.Noun}
	for _, item := range l.Items {
		var b strings.Builder
		writeItem(&b, "", item)
		p.items = append(p.items, b.String())
	}
	if len(l.Items) > 0 {
		m.parts = append(m.parts, p)
	}
}

func writeItem(b *strings.Builder, indent string, item Item) {
	fmt.Fprintf(b, "%s- %s\n", indent, inMarkdown(item.Text))
	if lines := sanitize.Lines(item.Evidence, maxEvidence); len(lines) > 0 {
		// One code span whatever the text: its lines must not decide the structure.
		fmt.Fprintf(b, "%s  - %s\n", indent, sanitize.Code(strings.Join(lines, " ⏎ "), 0))
	}
	for _, line := range item.Diff.Unified() {
		fmt.Fprintf(b, "%s  - %s\n", indent, sanitize.Code(line, 0))
	}
	for _, below := range item.Items {
		writeItem(b, indent+"  ", below)
	}
}

// matrix writes a table with the long heads as rows.
func (m *markdown) matrix(x Matrix) {
	const maxName = 60
	var head strings.Builder
	for _, row := range x.Rows {
		head.WriteString(" " + sanitize.Code(row.Name, maxName) + " |")
	}
	p := part{
		head: "\n" + inMarkdown(x.Caption) + "\n\n| |" + head.String() + "\n|---|" + strings.Repeat(":-:|", len(x.Rows)) + "\n",
		noun: "rows",
	}
	for i, name := range x.Heads {
		line := "| " + sanitize.Code(name, maxSpan) + " |"
		for _, row := range x.Rows {
			line += " " + inMarkdown(Line(Quote(row.Cells[i].Sign).In(row.Cells[i].Tone))) + " |"
		}
		p.items = append(p.items, line+"\n")
	}
	m.parts = append(m.parts, p)
}

// details are left out as a whole if they do not fit.
func (m *markdown) details(d Details) {
	inner := markdown{depth: m.depth}
	inner.blocks(d.Blocks)
	var b strings.Builder
	fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n", html.EscapeString(d.Title.String()))
	b.WriteString(inner.fit(defaultMaxBytes) + "\n</details>\n")
	m.parts = append(m.parts, part{items: []string{b.String()}, noun: "details"})
}

// noteSize is the room for a note on left-out parts.
const noteSize = 60

// fit joins the parts in at most limit bytes.
func (m *markdown) fit(limit int) string {
	most := m.share(limit)
	var b strings.Builder
	for i, p := range m.parts {
		text := p.cut(most)
		left := limit - b.Len() - len(text)
		if left < 0 || left < noteSize && i < len(m.parts)-1 {
			if note := fmt.Sprintf("\n… and %d more parts\n", len(m.parts)-i); b.Len()+len(note) <= limit {
				b.WriteString(note)
			}
			break
		}
		b.WriteString(text)
	}
	return b.String()
}

// share returns the most bytes that the items of each part may take: short parts stay whole, and
// long ones share the rest.
func (m *markdown) share(limit int) int {
	var sizes []int
	room := limit - noteSize
	for _, p := range m.parts {
		room -= len(p.head)
		if len(p.items) > 0 {
			room -= noteSize
			sizes = append(sizes, p.size())
		}
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		if share := room / (len(sizes) - i); size > share {
			return max(share, 0)
		}
		room -= size
	}
	return limit
}

func (p part) size() int {
	n := 0
	for _, item := range p.items {
		n += len(item)
	}
	return n
}

// cut returns the part with at most that many bytes of items.
func (p part) cut(most int) string {
	if p.size() <= most {
		return p.head + strings.Join(p.items, "")
	}
	var b strings.Builder
	b.WriteString(p.head)
	for i, item := range p.items {
		if most -= len(item); most < 0 {
			fmt.Fprintf(&b, "\n… and %d more%s\n", len(p.items)-i, suffix(p.noun))
			break
		}
		b.WriteString(item)
	}
	return b.String()
}
