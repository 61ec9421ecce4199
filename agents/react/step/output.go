package step

import "strings"

// Final is Parse for an answer of which only the final output is awaited, since the
// verification is there: the answer as a whole is the output, even if it contains what looks
// like a step, unless it begins with a step or a reflection, or has a verification
// before the output.
func Final(answer string) ([]Document, error) {
	found, err := Parse(answer)
	p := parser{text: strings.TrimPrefix(answer, bom)}
	if len(p.text) > MaxBytes || len(found) > 0 && found[0].Kind == Verify || p.beginsStep() {
		return found, err
	}
	p = parser{text: p.text}
	p.next()
	p.output()
	if len(p.found) == 0 {
		return nil, err
	}
	return p.found, nil
}

// beginsStep reports whether the first thing in the answer is a key of a step or a
// reflection.
func (p *parser) beginsStep() bool {
	for p.next(); !p.eof; p.next() {
		switch p.class() {
		case blank, comment, separator, opening:
		case keyLine:
			name, _, _ := cutKey(p.l.text)
			k, known := lookup(name)
			return known && keys[k].begins
		default:
			return false
		}
	}
	return false
}

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
	inside := p.fence
	from := p.l.start + min(p.l.lead, inside.margin)
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
		d.Line++
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
