package step

import "strings"

// Final is Parse for an answer after the verification, which should only be the final
// output: the whole answer is the output, even if it contains text that looks like a step,
// unless it begins with a step or a reflection, or has a verification before the output.
func Final(answer string) ([]Document, error) {
	found, err := Parse(answer)
	p := newParser(answer)
	if len(p.text) > maxBytes || len(found) > 0 && found[0].Kind == Verify {
		return found, err
	}
	p.split()
	if p.beginsStep() {
		return found, err
	}
	p.output()
	if len(p.found) == 0 {
		return nil, err
	}
	return p.found, nil
}

// beginsStep reports whether the answer begins with a key of a step or a reflection.
func (p *parser) beginsStep() bool {
	for i := range p.starts {
		l := p.line(i)
		switch p.class(l) {
		case blank, comment, separator, opening:
		case keyLine:
			k := keyOf(l)
			return k != nil && k.begins
		default:
			return false
		}
	}
	return false
}

// output adds the rest of the answer after a verification.
func (p *parser) output() {
	p.skipSeparator()
	if _, c := p.current(); c == closing {
		p.fence = fence{}
		p.i++
		p.skipSeparator()
	}
	if p.eof() {
		return
	}
	first, last := p.i, p.lastBefore(len(p.starts))
	p.i = len(p.starts)
	if p.fence.mark != 0 { // the output is in the fence of the verification
		for i := last; i >= first; i-- {
			if p.fence.closes(p.line(i).text) {
				last = p.lastBefore(i)
				break
			}
		}
	} else if p.isOneFence(first, last) {
		first, last = first+1, p.lastBefore(last)
	}
	if last < first {
		return
	}
	l, margin := p.line(first), p.fence.margin
	text := p.cut(l.start+min(l.lead, margin), p.line(last).end(), margin)
	if strings.TrimSpace(text) != "" {
		p.found = append(p.found, Document{Kind: Output, Pos: Pos{Line: first + 1, Column: 1}, Text: text})
	}
}

// isOneFence reports whether the first of some lines opens a fence and the last one
// is the first to close it.
func (p *parser) isOneFence(first, last int) bool {
	f, ok := fenceOf(p.line(first).text)
	for i := first + 1; ok && i <= last; i++ {
		if f.closes(p.line(i).text) {
			return i == last
		}
	}
	return false
}

// lastBefore returns the last line before another that is not blank.
func (p *parser) lastBefore(i int) int {
	for i--; i >= 0 && p.line(i).blank(); i-- {
	}
	return i
}

// skipSeparator skips the separator between the output and the document before it.
func (p *parser) skipSeparator() {
	p.skipBlank()
	for _, c := p.current(); c == ending; _, c = p.current() {
		p.i++
		p.skipBlank()
	}
	if _, c := p.current(); c == separator {
		p.i++
		p.skipBlank()
	}
}
