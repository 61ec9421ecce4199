package step

import (
	"strings"
)

// scalar reads the text value of a key, which begins at a byte of the current line or
// on the lines below. It ends on the first line behind the value.
func (p *parser) scalar(name string, off int) (string, Pos, *Error) {
	off, there := p.value(off)
	if !there {
		return "", p.pos(0), nil
	}
	at := p.pos(off)
	rest := p.l.text[off:]
	var text string
	var err *Error
	switch c := rest[0]; {
	case c == '|' || c == '>':
		text, err = p.block(off)
	case c == '"':
		text, err = p.double(off)
	case c == '\'':
		text, err = p.single(off)
	case c == '[' || c == '{' || opensItem(rest):
		err = p.wrong(off, "not-text", "%s must be a text, and a list or mapping begins here; write `%s: |` and the text below it, indented", name, name)
	case c == '&' || c == '*' || c == '!':
		err = p.wrong(off, "not-text", "a text that begins with %q means something else in YAML; write `%s: |` and the text below it, indented", c, name)
	case c == '%' || c == '@' || c == '`' || c == ',' || c == ']' || c == '}':
		err = p.wrong(off, "not-text", "a text cannot begin with %q; quote it, or write `%s: |` and the text below it, indented", c, name)
	default:
		text, err = p.plain(name, off)
	}
	return text, at, err
}

// opensItem reports whether a text would be read as an item of a list, or a
// complex key.
func opensItem(rest string) bool {
	return strings.IndexByte("-?:", rest[0]) >= 0 && (len(rest) == 1 || isSpace(rest[1]))
}

// value finds where the value of a key begins: behind the colon, or on the first
// indented line below. Otherwise it reports false, and has gone to the next line at
// the margin.
func (p *parser) value(off int) (int, bool) {
	if rest := p.l.text[off:]; !empty(rest) {
		return off + len(rest) - len(strings.TrimLeft(rest, " \t")), true
	}
	for p.next(); !p.eof; p.next() {
		switch c := p.class(); {
		case c == blank, c == comment, c == indented && p.l.comment():
		case c == indented:
			return len(p.l.text) - len(strings.TrimLeft(p.l.text, " \t")), true
		default:
			return 0, false
		}
	}
	return 0, false
}

// plain reads a text without quotes, whose further lines are indented.
func (p *parser) plain(name string, off int) (string, *Error) {
	text, commented, err := p.plainLine(name, off)
	if err != nil {
		return "", err
	}
	if text == "null" || text == "~" || text == "Null" || text == "NULL" {
		text = ""
	}
	var b strings.Builder
	breaks := 0
	for p.next(); !p.eof; p.next() {
		if p.l.blank() {
			breaks++
			continue
		}
		if p.l.indent == 0 {
			break
		}
		if p.l.comment() {
			commented = true
			continue
		}
		if commented {
			return "", p.wrong(0, "indentation", "the text of %q was ended by a comment; write `%s: |` and the text below it, indented", name, name)
		}
		more, comment, err := p.plainLine(name, 0)
		if err != nil {
			return "", err
		}
		if b.Len() == 0 {
			b.WriteString(text)
		}
		fold(&b, breaks)
		b.WriteString(more)
		breaks, commented = 0, comment
	}
	if b.Len() > 0 {
		text = b.String()
	}
	return text, nil
}

// fold writes what stands between two lines of a plain or quoted text: a space, or
// the line breaks of the blank lines between.
func fold(b *strings.Builder, blankLines int) {
	if blankLines == 0 {
		b.WriteByte(' ')
		return
	}
	for range blankLines {
		b.WriteByte('\n')
	}
}

// plainLine is one line of a plain text, without its comment.
func (p *parser) plainLine(name string, off int) (text string, commented bool, err *Error) {
	text = p.l.text[off:]
	for from := 0; ; {
		i := strings.IndexAny(text[from:], ":#")
		if i < 0 {
			break
		}
		i += from
		from = i + 1
		if text[i] == '#' {
			if i > 0 && isSpace(text[i-1]) {
				text, commented = text[:i], true
				break
			}
			continue
		}
		if from == len(text) || isSpace(text[from]) {
			return "", false, p.wrong(off+i, "colon", "a colon with a space makes a key of the text before it; quote the text, or write `%s: |` and the text below it, indented", name)
		}
	}
	return strings.Trim(text, " \t"), commented, nil
}

// blockHeader reads `|` or `>` with its indicators. That of chomping is read and not
// needed: texts lose the line breaks at their end.
func (p *parser) blockHeader(off int) (folded bool, indent int, err *Error) {
	text := p.l.text[off:]
	folded = text[0] == '>'
	var chomp byte
	i := 1
	for ; i < len(text) && i <= 2; i++ {
		switch c := text[i]; {
		case (c == '+' || c == '-') && chomp == 0:
			chomp = c
			continue
		case c >= '1' && c <= '9' && indent == 0:
			indent = int(c - '0')
			continue
		}
		break
	}
	if rest := text[i:]; !empty(rest) || rest != "" && !isSpace(rest[0]) {
		err = p.wrong(off+i, "block-header", "found %s behind %q; the text of a block begins on the next line, indented", excerpt(rest), text[:i])
	}
	return folded, indent, err
}

// block reads a block text, without the line breaks at its end.
func (p *parser) block(off int) (string, *Error) {
	folded, indent, err := p.blockHeader(off)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	breaks := 0        // line breaks not written yet
	before := true     // nothing was written
	wasSpaced := false // the line before began with a space
	for p.next(); !p.eof; p.next() {
		l := &p.l
		if l.blank() && (indent == 0 || l.indent+len(l.text) <= indent || l.indent < indent) {
			breaks++
			continue
		}
		if indent == 0 && l.indent > 0 {
			indent = l.indent
		}
		if l.indent == 0 || l.indent < indent {
			if l.text[0] == '\t' {
				return "", p.wrong(0, "tab", "a tab stands in the indentation; indent with spaces")
			}
			break
		}
		content := p.text[l.end()-len(l.text)-(l.indent-indent) : l.end()]
		spaced := isSpace(content[0])
		switch {
		case before:
			newlines(&b, breaks)
		case folded && !wasSpaced && !spaced && breaks == 1:
			b.WriteByte(' ')
		case folded && !wasSpaced && !spaced:
			newlines(&b, breaks-1)
		default:
			newlines(&b, breaks)
		}
		b.WriteString(content)
		breaks, before, wasSpaced = 1, false, spaced
	}
	return b.String(), nil
}

func newlines(b *strings.Builder, n int) {
	for range n {
		b.WriteByte('\n')
	}
}
