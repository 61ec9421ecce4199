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
	depth, quote := 0, byte(0)
	var before byte // the last character that was no space
	for i := off; ; {
		if i >= len(p.l.text) {
			p.lastEnd = p.l.end()
			p.next()
			p.skipBlank()
			i = 0
			if p.eof || p.l.indent == 0 && p.ends() {
				return &Error{Pos: opened, Rule: "brackets", Message: "the bracket that opens here is not closed"}
			}
			continue
		}
		c := p.l.text[i]
		switch {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote, before = 0, c
			}
			i++
			continue
		case (c == '"' || c == '\'') && strings.IndexByte("[{,:", before) >= 0:
			quote = c
		case c == '#' && (i == 0 || isSpace(p.l.text[i-1])):
			i = len(p.l.text)
			continue
		case c == '[' || c == '{':
			if depth++; depth > MaxDepth {
				return p.wrong(i, "too-deep", "the value is nested more than %d levels deep", MaxDepth)
			}
		case c == ']' || c == '}':
			depth--
		}
		i++
		if !isSpace(c) {
			before = c
		}
		if depth == 0 {
			if rest := p.l.text[i:]; !empty(rest) {
				return p.wrong(i, "brackets", "found %s behind the closing bracket", excerpt(rest))
			}
			p.lastEnd = p.l.start + p.l.lead + i
			p.next()
			return nil
		}
	}
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
