package page

import (
	"html/template"
	"strings"
)

// Most of a page are short values in long lists. The functions of this file write such lists, several
// times as fast as html/template, which calls its escaper through reflection for each value.
var listFuncs = template.FuncMap{
	"facts": factsHTML, "measures": measuresHTML, "exchanges": exchangesHTML, "parts": partsHTML,
}

// escaper escapes text between tags as html/template does.
var escaper = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// markup is HTML that is being written.
type markup struct{ strings.Builder }

// add writes pieces of markup and text in turn, beginning with markup. The texts are escaped.
func (m *markup) add(pieces ...string) {
	for i, piece := range pieces {
		if i%2 == 0 {
			m.WriteString(piece)
		} else {
			_, _ = escaper.WriteString(m, piece) // a strings.Builder takes everything
		}
	}
}

func (m *markup) html() template.HTML {
	return template.HTML(m.String()) //nolint:gosec // add escaped its texts
}

func factsHTML(list []fact) template.HTML {
	var m markup
	for _, f := range list {
		m.add("<span><i>", f.Name, "</i> ", f.Value, "</span> ")
	}
	return m.html()
}

func measuresHTML(list []measured) template.HTML {
	var m markup
	for _, v := range list {
		m.add(`<tr><th scope="row">`, v.Name, `</th><td class="num">`, v.Value, "</td><td>", v.Interval, `</td><td class="num">`, v.N,
			`</td><td class="notes">`, v.Notes, "</td></tr>\n")
	}
	return m.html()
}

func exchangesHTML(list []exchange) template.HTML {
	var m markup
	for _, x := range list {
		m.add(`<tr><th scope="row">`, x.N, "</th><td>", x.Line, `</td><td class="num">`, x.Status, "</td><td>", x.Fault, "</td><td>", x.Delivered,
			"</td><td>", x.What, "</td></tr>")
	}
	return m.html()
}

// partsHTML is a text in its styles.
func partsHTML(list []part) template.HTML {
	var m markup
	for _, p := range list {
		switch {
		case p.Left != "":
			m.add(`<span class="cut">[`, p.Left, "]</span>")
		case p.Why != "":
			m.add("<mark>", p.Text, `</mark><span class="why"> `, p.Why, " </span>")
		default:
			m.add("", p.Text)
		}
	}
	if len(list) == 0 {
		m.add(`<span class="cut">(empty)</span>`)
	}
	return m.html()
}
