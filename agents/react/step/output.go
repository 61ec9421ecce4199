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
	if p.fence.mark != 0 {
		from := p.l.start + min(p.l.lead, p.fence.margin)
		d.Text = p.cut(from, p.insideFence(), p.fence.margin)
	} else {
		from, to, body := p.wholeFence()
		d.Text = p.text[from:to]
		d.Line += body
	}
	if strings.TrimSpace(d.Text) != "" {
		p.found = append(p.found, d)
	}
}

// insideFence goes to the end of the answer and returns where the text ends that stands
// in the open fence: before the last line that closes it.
func (p *parser) insideFence() int {
	to, last := p.l.start, -1
	for ; !p.eof; p.next() {
		if p.l.blank() {
			continue
		}
		if p.fence.closes(p.l.text) {
			last = to
		}
		to = p.l.end()
	}
	if last >= 0 {
		return last
	}
	return to
}

// wholeFence goes to the end of the answer and returns where its last text begins and
// ends: what is in a fence, if there is nothing else. The body begins that many
// lines later than the fence.
func (p *parser) wholeFence() (from, to, body int) {
	f, fenced := fenceOf(p.l.text)
	from, to = p.l.start, p.l.end()
	inner, closed := p.at, -1
	for p.next(); !p.eof; p.next() {
		switch {
		case p.l.blank():
			continue
		case closed >= 0:
			fenced = false // more than the fence
		case f.closes(p.l.text):
			closed = to
		}
		to = p.l.end()
	}
	if fenced && closed >= 0 {
		return inner, max(inner, closed), 1
	}
	return from, to, 0
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
