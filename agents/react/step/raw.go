package step

import "strings"

// raw takes a value as it stands: the text and its place. It ends on the first
// line behind the value, and leaves the end of the value in p.lastEnd.
func (p *parser) raw(off int) (string, Pos, *Error) {
	p.lastEnd = p.l.end()
	rest := p.l.text[off:]
	if empty(rest) {
		p.next()
		return p.nested(true)
	}
	off += len(rest) - len(strings.TrimLeft(rest, " \t"))
	switch p.l.text[off] {
	case '|', '>':
		if _, _, err := p.blockHeader(off); err != nil {
			return "", Pos{}, err
		}
		p.next()
		return p.nested(false)
	}
	at, from, margin := p.pos(off), p.l.start+p.l.lead+off, p.l.lead
	if c := p.l.text[off]; c == '{' || c == '[' {
		if err := p.brackets(off); err != nil {
			return "", at, err
		}
		return p.cut(from, p.lastEnd, margin), at, nil
	}
	for p.next(); !p.eof && (p.l.blank() || p.l.indent > 0); p.next() {
		if !p.l.blank() {
			p.lastEnd = p.l.end()
		}
	}
	return p.cut(from, p.lastEnd, margin), at, nil
}

// nested takes the indented lines of a value, or, if the value may be a list, the
// items at the margin.
func (p *parser) nested(list bool) (string, Pos, *Error) {
	p.skipToContent(list)
	if p.eof || p.l.blank() || p.l.indent == 0 && (!list || p.class() != item) {
		return "", p.pos(0), p.noTab()
	}
	list = list && p.l.indent == 0
	at, from, lead := p.pos(0), p.l.start+p.l.lead, p.l.lead
	var levels [MaxDepth]int
	depth, behind, n := 0, p.at, p.l.n
	for ; !p.eof; p.next() {
		l := &p.l
		if l.blank() {
			continue
		}
		if l.indent == 0 && !list {
			if l.text[0] == '#' {
				continue // a comment; the value may go on behind it
			}
			break
		}
		if l.indent == 0 && p.class() != item {
			break
		}
		for depth > 0 && levels[depth-1] >= l.indent {
			depth--
		}
		if depth == MaxDepth {
			return "", at, p.wrong(0, "too-deep", "the value is nested more than %d levels deep", MaxDepth)
		}
		levels[depth] = l.indent
		depth++
		p.lastEnd, behind, n = l.end(), p.at, l.n
	}
	p.back(behind, n+1) // comments behind the value belong to what follows
	return p.cut(from, p.lastEnd, lead), at, p.noTab()
}

// skipToContent goes to the first line of a nested value, over blank lines and
// comments.
func (p *parser) skipToContent(comments bool) {
	for !p.eof && (p.l.blank() || comments && p.l.text[0] == '#') {
		p.next()
	}
}

// noTab refuses a line that is indented with a tab.
func (p *parser) noTab() *Error {
	if !p.eof && p.class() == tabbed {
		return p.wrong(0, "tab", "the line begins with a tab; indent with spaces")
	}
	return nil
}

// brackets goes to the line behind the list or mapping that a bracket opens.
func (p *parser) brackets(off int) *Error {
	opened := p.pos(off)
	var n nest
	for from := off; ; from = 0 {
		at := n.follow(p.l.text, from)
		switch {
		case n.depth > MaxDepth:
			return p.wrong(at, "too-deep", "the value is nested more than %d levels deep", MaxDepth)
		case n.depth == 0:
			if rest := p.l.text[at:]; !empty(rest) {
				return p.wrong(at, "brackets", "found %s behind the closing bracket", excerpt(rest))
			}
			p.lastEnd = p.l.start + p.l.lead + at
			p.next()
			return nil
		}
		p.next()
		p.skipBlank()
		if p.eof || p.l.indent == 0 && p.ends() {
			return &Error{Pos: opened, Rule: "brackets", Message: "the bracket that opens here is not closed"}
		}
	}
}

// nest follows the brackets and quotes of a list or mapping.
type nest struct {
	depth  int
	quote  byte // that is open
	before byte // the last character that was no space
}

// follow goes through a line from a byte on, and returns where it stopped: behind the last
// bracket to close, at one that is too deep, or at the end.
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
			if n.depth++; n.depth > MaxDepth {
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

// ends reports whether the current line ends a document, whatever is open in it.
func (p *parser) ends() bool {
	switch p.class() {
	case separator, ending, closing, opening:
		return true
	}
	return false
}

// cut is a piece of the answer whose further lines lose up to n leading spaces.
func (p *parser) cut(from, to, n int) string {
	text := p.text[from:max(from, to)]
	if n == 0 || strings.IndexByte(text, '\n') < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for {
		i := strings.IndexByte(text, '\n') + 1
		if i == 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		text = text[i:]
		for k := 0; k < n && text != "" && text[0] == ' '; k++ {
			text = text[1:]
		}
	}
}
