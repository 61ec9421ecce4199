package step

import "strings"

// raw returns the unparsed value of a key, dedented, and its position. Afterwards the
// current line is the first one after the value, and p.end is the offset of the value's
// end.
func (p *parser) raw(off int) (string, Pos, *Error) {
	l := p.line(p.i)
	p.end = l.end()
	if isEmpty(l.text[off:]) {
		return p.block(below)
	}
	off = len(l.text) - len(strings.TrimLeft(l.text[off:], " \t"))
	at, from := p.pos(p.i, off), l.start+l.lead+off
	switch l.text[off] {
	case '|', '>':
		if err := p.checkHeader(p.i, off); err != nil {
			return "", at, err
		}
		return p.block(text)
	case '{', '[':
		if err := p.brackets(off); err != nil {
			return "", at, err
		}
	default:
		if _, _, err := p.block(inline); err != nil {
			return "", at, err
		}
		p.skipBlank()
	}
	return p.cut(from, p.end, l.lead), at, nil
}

// form is where an unparsed value begins.
type form int

const (
	below  form = iota // on the lines below the key
	text               // there, after the header of a block text
	inline             // on the line of the key
)

// block returns the indented lines below the current one. If they are below the key, there
// may be comments at the margin between them; if the value is a list, its items may be at
// the margin.
func (p *parser) block(f form) (string, Pos, *Error) {
	var first line
	var at Pos
	var levels []int
	behind, list := p.i+1, false
	for p.i++; !p.eof(); p.i++ {
		l, c := p.current()
		if c == blank || c == comment && !list && f != inline || f == below && levels == nil && l.text[0] == '#' {
			continue
		}
		if levels == nil {
			list = f == below && c == item
			first, at = l, p.pos(p.i, 0)
		}
		if c != indented && (c != item || !list) {
			break
		}
		for len(levels) > 0 && levels[len(levels)-1] >= p.indent(l) {
			levels = levels[:len(levels)-1]
		}
		if levels = append(levels, p.indent(l)); len(levels) > maxDepth {
			return "", at, p.tooDeep(0)
		}
		p.end, behind = l.end(), p.i+1
	}
	if levels != nil || f == inline {
		p.i = behind // comments after the value are not part of it
	}
	if _, c := p.current(); c == tabbed && f != inline {
		return "", at, p.tab()
	}
	if levels == nil {
		return "", Pos{}, nil
	}
	return p.cut(first.start+first.lead, p.end, first.lead), at, nil
}

func (p *parser) tooDeep(off int) *Error {
	return p.wrong(p.i, off, "too-deep", "the value is nested more than %d levels deep", maxDepth)
}

// brackets moves to the line after the list or mapping that a bracket opens.
func (p *parser) brackets(off int) *Error {
	opened := p.pos(p.i, off)
	var n nest
	for ; ; off = 0 {
		l := p.line(p.i)
		at := n.follow(l.text, off)
		switch {
		case n.depth > maxDepth:
			return p.tooDeep(at)
		case n.depth == 0:
			if rest := l.text[at:]; !isEmpty(rest) {
				return p.wrong(p.i, at, "brackets", "found %s behind the closing bracket", excerpt(rest))
			}
			p.end = l.start + l.lead + at
			p.i++
			return nil
		}
		p.i++
		p.skipBlank()
		switch _, c := p.current(); {
		case p.eof(), c == separator, c == ending, c == closing, c == opening:
			return errorAt(opened, "brackets", "the bracket that opens here is not closed")
		}
	}
}

// nest tracks the brackets and quotes of a list or mapping.
type nest struct {
	depth  int
	quote  byte // that is open
	before byte // the last character that was not a space
}

// follow scans a line from a byte on, and returns where it stopped: after the last closing
// bracket, at a bracket that is too deep, or at the end.
func (n *nest) follow(text string, i int) int {
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case n.quote == '"' && c == '\\':
			i++
		case n.quote != 0:
			if c == n.quote {
				n.quote = 0
			}
		case (c == '"' || c == '\'') && strings.IndexByte("[{,:", n.before) >= 0:
			n.quote = c
		case c == '#' && (i == 0 || isSpace(text[i-1])):
			return len(text)
		case c == '[' || c == '{':
			if n.depth++; n.depth > maxDepth {
				return i
			}
		case c == ']' || c == '}':
			if n.depth--; n.depth == 0 {
				return i + 1
			}
		}
		if !isSpace(c) {
			n.before = c
		}
	}
	return len(text)
}
