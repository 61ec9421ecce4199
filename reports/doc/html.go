package doc

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/htmlpage"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

//go:embed document.html
var documentHTML string

// templates are parsed when the first page is rendered.
var templates = sync.OnceValue(func() *template.Template {
	t := template.Must(htmlpage.Template().Clone()).Funcs(template.FuncMap{
		"line":     lineHTML,
		"plain":    Text.String,
		"spans":    spansHTML,
		"rows":     diffRows,
		"clean":    func(s string) string { return sanitize.Line(s, maxSpan) },
		"evidence": func(s string) string { return strings.Join(sanitize.Lines(s, maxEvidence), "\n") },
		"anchor":   func(id string) template.URL { return template.URL("#" + id) }, //nolint:gosec // in the page
		"svg":      func(svg []byte) template.HTML { return template.HTML(svg) },   //nolint:gosec // package plot escapes
	})
	return template.Must(t.Parse(documentHTML))
})

// HTML writes the document as one page that loads nothing; all of it is readable without its script.
// tool is the program that writes it.
func HTML(w io.Writer, d Document, tool string) error {
	v := web{ids: map[string]int{}}
	content := v.Blocks(d.Lead) + v.Blocks(d.Body)
	title := strings.TrimPrefix(signs[d.Tone]+" "+d.Kind+" "+d.Name.String(), " ")
	script := htmlpage.Common
	if d.Static {
		script = ""
	}
	frame := htmlpage.SelfContained(title+" · rehearse", "", script)
	frame.Skip, frame.Nav, frame.Tool = htmlpage.Anchor{ID: "headline", Name: "the summary"}, v.nav, sanitize.Line(tool, maxSpan)
	page := v.execute("document", struct {
		Document
		Frame   htmlpage.Frame
		Sign    string
		Content template.HTML
	}{d, frame, signs[d.Tone], content})
	return write(w, string(page))
}

// Fragment returns blocks as a part of a page with the style sheet of reports. level is the
// level of its headings.
func Fragment(blocks []Block, level int) template.HTML {
	v := web{ids: map[string]int{}, depth: level - 2}
	return v.Blocks(blocks)
}

// HTML returns the facts as one paragraph below the headline of a page.
func (o Origin) HTML() template.HTML { return new(web).execute("origin", o) }

// maxRows limits the rows of a table and the items of a list.
const maxRows = 500

// signs distinguish tones without colours.
var signs = map[Tone]string{Good: "✓", Bad: "✗", Broken: "!", Unsure: "?", Info: "="}

// web renders the blocks of a page.
type web struct {
	depth int // of sections
	nav   []htmlpage.Anchor
	ids   map[string]int
}

func (v *web) execute(name string, data any) template.HTML {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		panic(err) // a mistake in document.html: the builder has no errors
	}
	return template.HTML(b.String()) //nolint:gosec // written by a template
}

// Blocks renders blocks; consecutive plots are shown side by side. Templates call it.
func (v *web) Blocks(list []Block) template.HTML {
	var out template.HTML
	for i, b := range list {
		picture := isPlot(b)
		if picture && (i == 0 || !isPlot(list[i-1])) {
			out += `<div class="figures">`
		}
		out += v.block(b)
		if picture && (i+1 == len(list) || !isPlot(list[i+1])) {
			out += "</div>\n"
		}
	}
	return out
}

func isPlot(b Block) bool {
	p, ok := b.(Plot)
	return ok && !p.Wide
}

func (v *web) block(b Block) template.HTML {
	switch b := b.(type) {
	case Section:
		return v.section(b)
	case Paragraph:
		return "<p>" + lineHTML(Text(b)) + "</p>\n"
	case Facts:
		return v.execute("facts", b)
	case Table:
		return v.table(b)
	case List:
		return v.list(b)
	case Matrix:
		return v.execute("matrix", b)
	case Plot:
		return v.execute("plot", b)
	case Preformatted:
		return v.execute("preformatted", sanitize.Text(string(b), 0))
	case Diff:
		if len(b.Lines) == 0 {
			return ""
		}
		return v.execute("diff", b)
	case Details:
		return v.details(b, v.Blocks(b.Blocks))
	}
	return ""
}

// section renders a section: an outer one has an entry in the navigation.
func (v *web) section(s Section) template.HTML {
	level, title := min(v.depth+2, 6), lineHTML(s.Title)
	data := struct {
		Section
		ID               string
		Heading, Content template.HTML
	}{Section: s, Heading: template.HTML(fmt.Sprintf("<h%d>%s</h%d>", level, title, level))} //nolint:gosec // escaped
	name := "article"
	if v.depth == 0 {
		name, data.ID = "section", v.id(s.Title)
		v.nav = append(v.nav, htmlpage.Anchor{ID: data.ID, Name: s.Title.String()})
	}
	v.depth++
	data.Content = v.Blocks(s.Blocks)
	v.depth--
	return v.execute(name, data)
}

// id derives an id from the words of a title.
func (v *web) id(title Text) string {
	var b strings.Builder
	for _, s := range title {
		for _, r := range strings.ToLower(s.Text) {
			switch {
			case s.kind != own:
			case 'a' <= r && r <= 'z':
				b.WriteRune(r)
			case r == ' ':
				b.WriteByte('-')
			}
		}
	}
	id := "s-" + strings.Trim(b.String(), "-")
	v.ids[id]++
	if n := v.ids[id]; n > 1 {
		id += fmt.Sprint("-", n)
	}
	return id
}

func (v *web) table(t Table) template.HTML {
	data := struct {
		Table
		Label, Note string
		Shown       [][]Text
	}{Table: t, Label: t.Caption}
	if t.Caption == "" { // for screen readers
		var heads []string
		for _, c := range t.Columns {
			heads = append(heads, c.Head.String())
		}
		data.Label = strings.TrimPrefix(strings.Join(heads, ", "), ", ")
	}
	limit := maxRows
	if t.Whole {
		limit = 0
	}
	n, note := shown(len(t.Rows), limit, t.Noun)
	data.Shown, data.Note = t.Rows[:n], note
	return v.execute("table", data)
}

// maxOpen limits the items of a long list that are shown unfolded.
const maxOpen = 10

func (v *web) list(l List) template.HTML {
	n, note := shown(len(l.Items), maxRows, l.Noun)
	open := n
	if n > maxOpen+1 { // a note would take as much room as one more item
		open = maxOpen
	}
	out := v.Items(l.Items[:open])
	if open < n {
		out += v.details(Details{Title: Line(fmt.Sprintf("%d more%s", n-open, suffix(l.Noun)))}, v.Items(l.Items[open:n]))
	}
	return out + v.execute("note", note)
}

func (v *web) details(d Details, content template.HTML) template.HTML {
	return v.execute("details", struct {
		Details
		Content template.HTML
	}{d, content})
}

// Items renders items with the items and blocks below each. Their template calls it.
func (v *web) Items(list []Item) template.HTML {
	return v.execute("items", struct {
		*web
		Entries []Item
	}{v, list})
}

// lineHTML returns a text as HTML.
func lineHTML(t Text) template.HTML {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.html())
	}
	return template.HTML(b.String()) //nolint:gosec // escaped
}

func (s Span) html() string {
	text := html.EscapeString(s.clean())
	switch s.kind {
	case own:
	case foreign:
		text = "<bdi>" + text + "</bdi>"
	case command:
		text = `<code class="command">` + text + "</code>"
	}
	switch s.Tone {
	case Plain:
	case Strong:
		text = "<b>" + text + "</b>"
	case Faint:
		text = "<i>" + text + "</i>"
	default:
		text = `<b class="` + string(s.Tone) + `">` + text + "</b>"
	}
	if s.web {
		text = `<a href="` + html.EscapeString(s.Text) + `" rel="noreferrer">` + text + "</a>"
	}
	if s.Link != "" {
		place := "#" + s.Link
		if strings.HasPrefix(s.Link, "/") && !strings.HasPrefix(s.Link, "//") {
			place = s.Link
		}
		text = `<a href="` + html.EscapeString(place) + `">` + text + "</a>"
	}
	return text
}
