package doc

import (
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/htmlpage"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// HTML writes the document as one page that loads nothing and has no script. tool is the program
// that writes it.
func HTML(w io.Writer, d Document, tool string) error {
	content := web{ids: map[string]int{}}
	content.hero(d)
	content.figures(d.Figures)
	content.blocks(d.Lead)
	content.blocks(d.Body)
	title := d.Kind + " " + d.Name.plain()
	if d.Tone != Plain {
		title = signs[d.Tone] + " " + title
	}
	f := htmlpage.SelfContained(title+" · rehearse", "", "")
	f.Skip, f.Nav, f.Tool = htmlpage.Anchor{ID: "headline", Name: "the summary"}, content.nav, sanitize.Line(tool, maxSpan)
	var page strings.Builder
	if err := htmlpage.Template().ExecuteTemplate(&page, "open", f); err != nil {
		return err
	}
	page.WriteString(content.String())
	if err := htmlpage.Template().ExecuteTemplate(&page, "close", f); err != nil {
		return err
	}
	return write(w, page.String())
}

// Fragment returns blocks as a part of a page with the style sheet of reports. level is the
// level of its headings.
func Fragment(blocks []Block, level int) template.HTML {
	v := web{ids: map[string]int{}, depth: level - 2}
	v.blocks(blocks)
	return template.HTML(v.String()) //nolint:gosec // all texts are escaped
}

// maxRows limits the rows of a table and the items of a list.
const maxRows = 500

// signs distinguish tones without colours.
var signs = map[Tone]string{Good: "✓", Bad: "✗", Broken: "!", Unsure: "?", Info: "="}

// web collects the content of a page. All texts go through its text method, which escapes them.
type web struct {
	strings.Builder
	depth int
	nav   []htmlpage.Anchor
	ids   map[string]int
}

// raw writes markup of this package.
func (v *web) raw(markup ...string) {
	for _, m := range markup {
		v.WriteString(m)
	}
}

// text writes a text as text.
func (v *web) text(s string) { v.WriteString(html.EscapeString(s)) }

func (v *web) line(t Text) {
	for _, s := range t {
		if s.Link != "" {
			v.raw(`<a href="#`)
			v.text(s.Link)
			v.raw(`">`)
		}
		v.span(s)
		if s.Link != "" {
			v.raw(`</a>`)
		}
	}
}

func (v *web) span(s Span) {
	before, after := "", ""
	switch s.Tone {
	case Plain:
	case Strong:
		before, after = "<b>", "</b>"
	case Faint:
		before, after = "<i>", "</i>"
	default:
		before, after = `<b class="`+string(s.Tone)+`">`, "</b>"
	}
	v.raw(before)
	switch s.kind {
	case foreign:
		before, after = `<bdi>`, `</bdi>`+after
	case command:
		before, after = `<code class="command">`, `</code>`+after
	default:
		before = ""
	}
	v.raw(before)
	v.text(s.clean())
	v.raw(after)
}

func (v *web) hero(d Document) {
	v.raw(`<section id="summary" aria-labelledby="headline"><div class="hero `, string(d.Tone), `">`)
	if d.Tone != Plain {
		v.raw(`<span class="sign" aria-hidden="true">`, signs[d.Tone], `</span>`)
	}
	v.raw(`<div><h1 id="headline">`)
	if d.Verdict != "" {
		v.raw(`<span class="word">`)
		v.text(d.Verdict)
		v.raw(`</span> `)
	}
	v.line(d.Summary)
	v.raw(`</h1><p class="run"><span><i>`)
	v.text(d.Kind)
	v.raw(`</i> `)
	v.line(d.Name)
	v.raw("</span></p></div></div>\n")
}

// figures writes the numbers at the top and ends the summary.
func (v *web) figures(list Facts) {
	if len(list) > 0 {
		v.pairs("numbers", list, "span")
	}
	v.raw("</section>\n")
}

// pairs writes facts as a list of terms.
func (v *web) pairs(class string, list Facts, note string) {
	v.raw(`<dl class="`, class, `">`)
	for _, f := range list {
		v.raw(`<div><dt>`)
		v.text(f.Name)
		v.raw(`</dt><dd>`)
		v.line(f.Value)
		if len(f.Note) > 0 {
			v.raw(` <`, note, `>`)
			v.line(f.Note)
			v.raw(`</`, note, `>`)
		}
		v.raw(`</dd></div>`)
	}
	v.raw("</dl>\n")
}

// blocks writes blocks; consecutive plots are shown side by side.
func (v *web) blocks(list []Block) {
	for i, b := range list {
		picture := isPlot(b)
		if picture && (i == 0 || !isPlot(list[i-1])) {
			v.raw(`<div class="figures">`)
		}
		v.block(b)
		if picture && (i+1 == len(list) || !isPlot(list[i+1])) {
			v.raw("</div>\n")
		}
	}
}

func isPlot(b Block) bool {
	p, ok := b.(Plot)
	return ok && !p.Wide
}

func (v *web) block(b Block) {
	switch b := b.(type) {
	case Section:
		v.section(b)
	case Paragraph:
		v.raw(`<p>`)
		v.line(Text(b))
		v.raw("</p>\n")
	case Facts:
		v.pairs("pairs", b, "i")
	case Table:
		v.table(b)
	case List:
		v.list(b)
	case Matrix:
		v.matrix(b)
	case Plot:
		v.plot(b)
	case Preformatted:
		v.raw(`<div class="text" dir="auto">`)
		v.text(sanitize.Text(string(b), 0))
		v.raw("</div>\n")
	case Details:
		if b.Open {
			v.raw(`<details class="more" open><summary>`)
		} else {
			v.raw(`<details class="more"><summary>`)
		}
		v.line(b.Title)
		v.raw("</summary>\n")
		v.blocks(b.Blocks)
		v.raw("</details>\n")
	}
}

func (v *web) plot(p Plot) {
	if p.Wide {
		v.raw(`<figure class="wide" tabindex="0" role="group" aria-label="`)
		v.text(sanitize.Line(p.Title, maxSpan))
		v.raw(`">`)
	} else {
		v.raw(`<figure>`)
	}
	v.raw(`<figcaption>`)
	v.text(sanitize.Line(p.Title, maxSpan))
	v.raw(`</figcaption>`)
	if len(p.SVG) > 0 {
		v.Write(p.SVG) // package plot escapes
	} else {
		v.raw(`<p class="none">`)
		v.text(sanitize.Line(p.Text, 0))
		v.raw(`</p>`)
	}
	v.raw("</figure>\n")
}

func (v *web) section(s Section) {
	level := min(v.depth+2, 6)
	if v.depth > 0 {
		v.raw(`<article class="part `, string(s.Tone), `">`)
		fmt.Fprintf(v, "<h%d>", level)
		v.line(s.Title)
		fmt.Fprintf(v, "</h%d>\n", level)
	} else {
		id := v.id(s.Title)
		v.nav = append(v.nav, htmlpage.Anchor{ID: id, Name: s.Title.plain()})
		v.raw(`<section id="`, id, `" class="`, string(s.Tone), `" aria-labelledby="`, id, `-title"><h2 id="`, id, `-title">`)
		v.line(s.Title)
		v.raw("</h2>\n")
	}
	v.depth++
	v.blocks(s.Blocks)
	v.depth--
	if v.depth > 0 {
		v.raw("</article>\n")
	} else {
		v.raw("</section>\n")
	}
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

func (v *web) note(s string) {
	if s != "" {
		v.raw(`<p class="hint">`)
		v.text(s)
		v.raw("</p>\n")
	}
}

// maxOpen limits the items of a long list that are shown unfolded.
const maxOpen = 10

func (v *web) list(l List) {
	n, note := shown(len(l.Items), maxRows, l.Noun)
	open := n
	if n > maxOpen+1 { // a note would take as much room as one more item
		open = maxOpen
	}
	v.items(l.Items[:open])
	if open < n {
		v.raw(`<details class="more"><summary>`)
		v.text(fmt.Sprintf("%d more%s", n-open, suffix(l.Noun)))
		v.raw("</summary>\n")
		v.items(l.Items[open:n])
		v.raw("</details>\n")
	}
	v.note(note)
}

func (v *web) items(list []Item) {
	if len(list) == 0 {
		return
	}
	v.raw(`<ul class="items">`)
	for _, item := range list {
		v.raw(`<li>`)
		v.line(item.Text)
		if item.Evidence != "" {
			v.raw(`<div class="evidence" dir="auto">`)
			v.text(strings.Join(sanitize.Lines(item.Evidence, maxEvidence), "\n"))
			v.raw(`</div>`)
		}
		v.items(item.Items)
		v.blocks(item.Blocks)
		v.raw("</li>\n")
	}
	v.raw("</ul>\n")
}
