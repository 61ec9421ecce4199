package step

import "strings"

// output takes what remains of the answer behind a verification.
func (p *parser) output() {
	p.lead()
	if !p.eof && p.class() == closing {
		p.fence = fence{}
		p.next()
		p.lead()
	}
	if p.eof {
		return
	}
	d := Document{Kind: Output, Pos: Pos{Line: p.l.n, Column: 1}}
	from, inside := p.l.start, p.fence
	whole, ok := fenceOf(p.l.text)
	ok = ok && inside.mark == 0
	first, last := -1, -1 // ends of the text before the first and last line that closes the fence
	to := from            // the end of the last line that is not blank
	for ; !p.eof; p.next() {
		if p.l.blank() {
			continue
		}
		if inside.closes(p.l.text) {
			last = to
		}
		if ok && first < 0 && p.l.start > from && whole.closes(p.l.text) {
			first = p.l.start
			last = to
			to = p.l.end()
			continue
		}
		if first >= 0 {
			ok = false // more than the fence
		}
		to = p.l.end()
	}
	switch {
	case inside.mark != 0:
		if last >= 0 {
			to = last
		}
		d.Text = p.cut(from, to, inside.margin)
	case ok && first >= 0:
		body := strings.IndexByte(p.text[from:], '\n') + 1
		d.Pos.Line++
		d.Text = p.cut(from+body, max(from+body, last), 0)
	default:
		d.Text = p.text[from:to]
	}
	if strings.TrimSpace(d.Text) != "" {
		p.found = append(p.found, d)
	}
}

// lead skips what separates the output from the document before it.
func (p *parser) lead() {
	p.skipBlank()
	for !p.eof && p.class() == ending {
		p.next()
		p.skipBlank()
	}
	if !p.eof && p.class() == separator {
		p.next()
		p.skipBlank()
	}
}
