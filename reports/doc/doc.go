// Package doc describes reports: a Document has headings, facts, tables, lists and plots, and
// Terminal, Markdown and HTML render it.
//
// The texts of a document are not escaped; each renderer escapes them. Text of unknown origin
// (Quote, Command) is shown literally.
package doc

import (
	"fmt"
	"io"
	"net/url"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// Document is a report, independent of where it is shown.
type Document struct {
	// Marker is the hidden first line of Markdown, by which a later run finds its own comment
	// and replaces it.
	Marker string
	// Kind is the kind of report, such as "Exploration", and Name its subject.
	Kind string
	Name Text
	// Verdict is a word or two, and Tone its colour. Both may be empty.
	Verdict string
	Tone    Tone
	// Summary is the report in one sentence.
	Summary Text
	// Figures are the most important numbers.
	Figures Facts
	// Origin is when and how the result was made. Markdown leaves it out, so that equal results have
	// equal texts.
	Origin Origin
	// Lead has the blocks that decide the verdict. Markdown and HTML begin with verdict, summary
	// and lead; Terminal ends with them, right above the prompt.
	Lead []Block
	Body []Block
	// Static leaves the script out of HTML, and with it sorting and copying.
	Static bool
	// Terminal is what a terminal shows instead; nil if it shows the same.
	Terminal *Document
}

// Section returns the document as a section of another one.
func (d Document) Section() Section {
	s := Section{Title: Line(d.Kind, " ", d.Name), Tone: d.Tone}
	if d.Verdict != "" {
		s.Title = Line(s.Title, ": ", Toned(d.Tone, d.Verdict))
	}
	if len(d.Summary) > 0 {
		s.Blocks = append(s.Blocks, Paragraph(d.Summary))
	}
	if len(d.Figures) > 0 {
		s.Blocks = append(s.Blocks, d.Figures)
	}
	s.Blocks = append(append(s.Blocks, d.Lead...), d.Body...)
	return s
}

// Text is a line of words.
type Text []Span

// Span is a part of a Text.
type Span struct {
	Text string
	// Tone is a colour with a meaning. Its values are classes of the style sheet.
	Tone Tone
	// Link is a place in the same HTML page, or begins with a slash and is the path of another page of
	// the same server.
	Link string
	// web is true if the text itself is an address.
	web  bool
	kind kind
}

type kind int

const (
	own     kind = iota // words of this program
	foreign             // text of unknown origin
	command             // a shell command, which is neither wrapped nor cut
)

// Tone is a colour with a meaning. Its values are classes of the style sheet.
type Tone string

// The tones.
const (
	Plain  Tone = ""
	Good   Tone = "pass"
	Bad    Tone = "fail"
	Broken Tone = "error"
	Unsure Tone = "skip"
	Info   Tone = "info"
	Faint  Tone = "faint"
	Strong Tone = "strong"
)

// Line joins parts to a text. Strings must not be foreign; foreign text is a Quote or Command.
// Other values are printed, whole numbers with separated thousands.
func Line(parts ...any) Text {
	var t Text
	for _, part := range parts {
		switch part := part.(type) {
		case Span:
			t = append(t, part)
		case Text:
			t = append(t, part...)
		case int:
			t = append(t, Span{Text: format.Int(part)})
		default:
			if s := fmt.Sprint(part); s != "" {
				t = append(t, Span{Text: s})
			}
		}
	}
	return t
}

// Quote is text of unknown origin.
func Quote(s string) Span { return Span{Text: s, kind: foreign} }

// Command is a command to be copied into a shell.
func Command(s string) Span { return Span{Text: s, kind: command} }

// Toned returns s with a tone.
func Toned(tone Tone, s string) Span { return Span{Text: s, Tone: tone} }

// In returns the span with a tone.
func (s Span) In(tone Tone) Span { s.Tone = tone; return s }

// To returns the span as a link to a place in the HTML page, unless place is empty.
func (s Span) To(place string) Span { s.Link = place; return s }

// ToWeb returns the span as a link to its own text if this is an address of the web. Only HTML has the link.
func (s Span) ToWeb() Span {
	at, err := url.Parse(s.Text)
	s.web = err == nil && (at.Scheme == "https" || at.Scheme == "http") && at.Host != ""
	return s
}

// Block is a part of a document.
type Block interface{ block() }

// Section is a heading with what follows it.
type Section struct {
	Title  Text
	Tone   Tone
	Blocks []Block
}

// Paragraph is a separate text.
type Paragraph Text

// Facts are names with values.
type Facts []Fact

// Origin are the facts that differ between equal results.
type Origin Facts

// Fact is a name with a value, and a note on the value, such as its interval.
type Fact struct {
	Name        string
	Value, Note Text
}

// Table has a row for each compared thing.
type Table struct {
	Caption string
	Columns []Column
	Rows    [][]Text
	// Max limits the rows on a terminal, which counts the others as Noun; 0 is no limit.
	// Markdown has a limit in bytes, and HTML one of 500 rows unless the table is Whole.
	Max   int
	Whole bool
	Noun  string
}

// Column describes a column. On a narrow terminal, Optional columns are left out, those
// that are Spare first; other Spare ones only if shorter names are not enough.
type Column struct {
	Head     Text
	Right    bool
	Optional bool
	Spare    bool
	// Shorten marks names and words, which a narrow terminal shows in several lines.
	Shorten bool
}

// Columns returns columns with headings. The first left ones are aligned to the left, the others to the right.
func Columns(left int, heads ...string) []Column {
	list := make([]Column, len(heads))
	for i, head := range heads {
		list[i] = Column{Head: Line(head), Right: i >= left}
	}
	return list
}

// Cells returns the cells of a row, of the arguments of Line.
func Cells(cells ...any) []Text {
	list := make([]Text, len(cells))
	for i, c := range cells {
		list[i] = Line(c)
	}
	return list
}

// List is a list of items. Max and Noun are as in Table. On a terminal, long items of a Spaced list
// have blank lines between them.
type List struct {
	Items  []Item
	Max    int
	Noun   string
	Spaced bool
}

// Item is an entry of a List.
type Item struct {
	// ID is a place in the HTML page, for links; may be empty.
	ID   string
	Text Text
	// Evidence is foreign text of several lines, such as the output of a program.
	Evidence string
	// Diff compares an expected with an actual value.
	Diff  Diff
	Items []Item
	// Blocks are shown below the item; Terminal leaves them out.
	Blocks []Block
}

// Matrix is a table with one character in each cell. On a terminal its columns have letters,
// which a legend explains.
type Matrix struct {
	Caption Text
	// Corner is the head of the rows.
	Corner string
	Heads  []string
	Rows   []MatrixRow
}

// MatrixRow is a row of a Matrix, with a cell for each head.
type MatrixRow struct {
	Name  string
	Cells []Mark
}

// Mark is a cell of a Matrix.
type Mark struct {
	Sign, Meaning, Link string
	Tone                Tone
}

// Plot is a picture. HTML shows the SVG, or else the text; Terminal and Markdown
// show the lines of Chart.
type Plot struct {
	Title, Text string
	SVG         []byte
	Chart       []string
	// Wide plots are not shown beside others in HTML.
	Wide bool
}

// Preformatted is foreign text of several lines.
type Preformatted string

// Details are folded in Markdown and HTML, unless Open, and left out on a terminal.
type Details struct {
	Title  Text
	Blocks []Block
	Open   bool
}

func (Section) block()      {}
func (Paragraph) block()    {}
func (Facts) block()        {}
func (Table) block()        {}
func (List) block()         {}
func (Matrix) block()       {}
func (Plot) block()         {}
func (Preformatted) block() {}
func (Details) block()      {}

// shown returns how many of n things are shown with a limit, and a note on the others.
func shown(n, limit int, noun string) (int, string) {
	if limit <= 0 || n <= limit {
		return n, ""
	}
	return limit, fmt.Sprintf("and %d more", n-limit) + suffix(noun)
}

func suffix(noun string) string {
	if noun == "" {
		return ""
	}
	return " " + noun
}

func write(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
