package doc

import (
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

func (v *web) table(t Table) {
	caption, class := t.Caption, ""
	if caption == "" { // for screen readers
		var heads []string
		for _, c := range t.Columns {
			heads = append(heads, c.Head.plain())
		}
		caption, class = strings.TrimPrefix(strings.Join(heads, ", "), ", "), "hidden"
	}
	v.raw(`<div class="scroll" tabindex="0" role="group" aria-label="`)
	v.text(caption)
	v.raw(`"><table class="plain"><caption class="`, class, `"><span>`)
	v.text(caption)
	v.raw(`</span></caption><thead><tr>`)
	for _, c := range t.Columns {
		v.cell("th", ` scope="col"`, c, c.Head)
	}
	v.raw("</tr></thead>\n<tbody>")
	n, note := shown(len(t.Rows), maxRows, t.Noun)
	for _, row := range t.Rows[:n] {
		v.raw(`<tr>`)
		for i, cell := range row {
			if i == 0 {
				v.cell("th", ` scope="row"`, t.Columns[i], cell)
			} else {
				v.cell("td", "", t.Columns[i], cell)
			}
		}
		v.raw("</tr>\n")
	}
	v.raw("</tbody></table></div>\n")
	v.note(note)
}

func (v *web) cell(element, attributes string, c Column, t Text) {
	if c.Right {
		attributes += ` class="num"`
	}
	v.raw(`<`, element, attributes, `>`)
	v.line(t)
	v.raw(`</`, element, `>`)
}

func (v *web) matrix(m Matrix) {
	v.raw(`<div class="scroll" tabindex="0" role="group" aria-label="`)
	v.text(m.Caption.plain())
	v.raw(`"><table class="heat"><caption><span>`)
	v.line(m.Caption)
	v.raw("</span></caption>\n", `<thead><tr><th scope="col">`)
	v.text(m.Corner)
	v.raw(`</th>`)
	for _, h := range m.Heads {
		v.raw(`<th scope="col"><span>`)
		v.text(sanitize.Line(h, maxSpan))
		v.raw(`</span></th>`)
	}
	v.raw("</tr></thead>\n<tbody>")
	for _, row := range m.Rows {
		v.raw(`<tr><th scope="row">`)
		v.text(sanitize.Line(row.Name, maxSpan))
		v.raw(`</th>`)
		for _, mark := range row.Cells {
			v.mark(mark)
		}
		v.raw("</tr>\n")
	}
	v.raw("</tbody></table></div>\n")
}

func (v *web) mark(m Mark) {
	v.raw(`<td class="`, string(m.Tone), `">`)
	if m.Link != "" {
		v.raw(`<a href="#`)
		v.text(m.Link)
		v.raw(`">`)
	}
	v.raw(`<span aria-hidden="true">`)
	v.text(m.Sign)
	v.raw(`</span><span class="hidden">`)
	v.text(m.Meaning)
	v.raw(`</span>`)
	if m.Link != "" {
		v.raw(`</a>`)
	}
	v.raw(`</td>`)
}
