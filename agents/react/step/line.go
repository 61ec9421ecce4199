package step

import (
	"strings"
	"unicode/utf8"
)

// line is one line of the answer.
type line struct {
	n     int // from 1
	start int // where it begins in the answer
	// indent counts the spaces before the text, behind the margin of the fence.
	indent int
	// text is the line from its first character that is no space to its end, without
	// the line break.
	text string
	lead int // spaces before text, the margin included
}

// end is where the line ends in the answer, without its line break.
func (l *line) end() int { return l.start + l.lead + len(l.text) }

// blank reports whether nothing can be seen in the line.
func (l *line) blank() bool {
	return l.text == "" || (l.text[0] == '\t' || l.text[0] == '\v') && strings.TrimSpace(l.text) == ""
}

// comment reports whether the line is a comment.
func (l *line) comment() bool { return strings.HasPrefix(strings.TrimLeft(l.text, "\t "), "#") }

// fence is a code fence of Markdown.
type fence struct {
	mark   byte // '`' or '~'; 0 if there is none
	length int
	margin int // spaces before it, which all its lines may have
	info   string
}

// fenceOf reads the line that opens a fence.
func fenceOf(text string) (fence, bool) {
	n := run(text)
	if n < 3 {
		return fence{}, false
	}
	info := strings.TrimSpace(text[n:])
	if text[0] == '`' && strings.IndexByte(info, '`') >= 0 {
		return fence{}, false // code within a line
	}
	return fence{mark: text[0], length: n, info: info}, true
}

// run returns how many equal fence characters the text begins with.
func run(text string) int {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return 0
	}
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

// closes reports whether a line closes the fence.
func (f fence) closes(text string) bool {
	if f.mark == 0 || text == "" || text[0] != f.mark {
		return false
	}
	n := run(text)
	return n >= f.length && strings.TrimSpace(text[n:]) == ""
}

// class is what a line is, seen from the left margin.
type class int

const (
	prose class = iota
	blank
	comment
	separator // ---
	ending    // ...
	opening   // of a fence
	closing   // of the fence that is open
	indented
	tabbed  // begins with a tab, which YAML does not take for indentation
	keyLine // key: …
	item    // - …
)

func (p *parser) class() class {
	l := &p.l
	switch {
	case l.blank():
		return blank
	case l.indent > 0:
		return indented
	}
	switch c := l.text[0]; c {
	case '\t':
		return tabbed
	case '#':
		return comment
	case '-':
		switch {
		case isMark(l.text, "---"):
			return separator
		case len(l.text) == 1 || isSpace(l.text[1]):
			return item
		}
	case '.':
		if isMark(l.text, "...") {
			return ending
		}
	case '`', '~':
		if p.fence.mark != 0 {
			if p.fence.closes(l.text) {
				return closing
			}
		} else if _, ok := fenceOf(l.text); ok {
			return opening
		}
	}
	if _, _, ok := cutKey(l.text); ok {
		return keyLine
	}
	return prose
}

// isMark reports whether a line consists of a mark of YAML, and maybe a comment.
func isMark(text, mark string) bool {
	rest, ok := strings.CutPrefix(text, mark)
	if !ok || rest == "" {
		return ok
	}
	return isSpace(rest[0]) && empty(rest)
}

// empty reports whether what stands behind a key or mark is space or a comment.
func empty(rest string) bool {
	trimmed := strings.TrimLeft(rest, " \t")
	return trimmed == "" || trimmed[0] == '#' && (len(trimmed) < len(rest) || len(rest) == 0)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// maxKey bounds what is taken for a key.
const maxKey = 64

// cutKey splits a line `key: value` and returns the key and where its value
// begins, behind the colon. A key is a word without spaces, maybe quoted.
func cutKey(text string) (key string, value int, ok bool) {
	at := 0
	var quote byte
	if c := text[0]; c == '"' || c == '\'' {
		quote, at = c, 1
	}
	from := at
	for at < len(text) && at-from <= maxKey && isWord(text[at]) {
		at++
	}
	key = text[from:at]
	if key == "" || key[0] == '-' || key[0] == '.' {
		return "", 0, false
	}
	if quote != 0 {
		if at >= len(text) || text[at] != quote {
			return "", 0, false
		}
		at++
	}
	for at < len(text) && isSpace(text[at]) {
		at++
	}
	if at >= len(text) || text[at] != ':' {
		return "", 0, false
	}
	at++
	return key, at, at == len(text) || isSpace(text[at])
}

func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c >= utf8.RuneSelf
}

// next goes to the next line.
func (p *parser) next() {
	p.afterBlank = !p.eof && p.l.n > 0 && p.l.blank()
	p.l.n++
	if p.at >= len(p.text) {
		p.l, p.eof = line{n: p.l.n, start: len(p.text)}, true
		return
	}
	start := p.at
	end := strings.IndexByte(p.text[start:], '\n')
	if end < 0 {
		end = len(p.text)
		p.at = end
	} else {
		end += start
		p.at = end + 1
	}
	p.read += p.at - start
	if end > start && p.text[end-1] == '\r' {
		end--
	}
	lead := start
	for lead < end && p.text[lead] == ' ' {
		lead++
	}
	p.l = line{
		n: p.l.n, start: start, lead: lead - start,
		indent: max(0, lead-start-p.fence.margin), text: p.text[lead:end],
	}
}

// back goes back to the line that begins at a byte of the answer.
func (p *parser) back(at, n int) {
	p.at, p.eof = at, false
	p.l = line{n: n - 1}
	p.next()
}

// skipBlank goes to the next line on which something stands.
func (p *parser) skipBlank() {
	for !p.eof && p.l.blank() {
		p.next()
	}
}

// pos is the place of a byte of the line's text.
func (p *parser) pos(off int) Pos {
	l := &p.l
	return Pos{Line: l.n, Column: l.lead + utf8.RuneCountInString(l.text[:min(off, len(l.text))]) + 1}
}
