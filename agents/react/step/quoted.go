package step

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// single reads a text in single quotes, in which ” stands for one.
func (p *parser) single(off int) (string, *Error) {
	q := quote{opened: p.pos(off), mark: "'"}
	at := off + 1
	for {
		i := strings.IndexByte(p.l.text[at:], '\'')
		if i < 0 {
			q.literal(p.l.text[at:])
			if err := p.wrap(&q); err != nil {
				return "", err
			}
			at = q.at
			continue
		}
		q.literal(p.l.text[at : at+i])
		at += i + 1
		if at < len(p.l.text) && p.l.text[at] == '\'' {
			q.escaped("'")
			at++
			continue
		}
		return q.close(), p.afterQuote(at)
	}
}

// double reads a text in double quotes, with escapes.
func (p *parser) double(off int) (string, *Error) {
	q := quote{opened: p.pos(off), mark: `"`}
	at := off + 1
	for {
		i := strings.IndexAny(p.l.text[at:], `"\`)
		switch {
		case i < 0:
			q.literal(p.l.text[at:])
			if err := p.wrap(&q); err != nil {
				return "", err
			}
			at = q.at
		case p.l.text[at+i] == '"':
			q.literal(p.l.text[at : at+i])
			return q.close(), p.afterQuote(at + i + 1)
		default:
			q.literal(p.l.text[at : at+i])
			at += i
			if at+1 == len(p.l.text) { // the line break is escaped
				q.joined = true
				if err := p.wrap(&q); err != nil {
					return "", err
				}
				at = q.at
				continue
			}
			n, err := p.escape(&q, at)
			if err != nil {
				return "", err
			}
			at += n
		}
	}
}

// quote is a quoted text while it is read.
type quote struct {
	text   strings.Builder
	opened Pos
	mark   string
	at     int  // where the text goes on in a further line
	joined bool // the line break before that line does not count
	// space is the white space at the end, which a line break takes away.
	space string
}

func (q *quote) literal(s string) {
	trimmed := strings.TrimRight(s, " \t")
	if trimmed != "" {
		q.text.WriteString(q.space)
		q.text.WriteString(trimmed)
		q.space = s[len(trimmed):]
		return
	}
	q.space += s
}

func (q *quote) escaped(s string) {
	q.text.WriteString(q.space)
	q.text.WriteString(s)
	q.space = ""
}

// close returns the text.
func (q *quote) close() string {
	q.escaped("")
	return q.text.String()
}

// wrap goes to the next line of a quoted text.
func (p *parser) wrap(q *quote) *Error {
	if q.joined {
		q.escaped("")
	}
	q.space = ""
	blankLines := 0
	for p.next(); !p.eof && p.l.blank(); p.next() {
		blankLines++
	}
	if p.eof || p.l.indent == 0 {
		return &Error{Pos: q.opened, Rule: "quote", Message: "the quote " + q.mark + " that begins here is not closed; close it, and indent all lines of the text"}
	}
	if !q.joined || blankLines > 0 {
		fold(&q.text, blankLines)
	}
	q.joined = false
	q.at = len(p.l.text) - len(strings.TrimLeft(p.l.text, " \t"))
	return nil
}

// afterQuote goes to the next line; behind a closing quote nothing may stand.
func (p *parser) afterQuote(at int) *Error {
	if rest := p.l.text[at:]; !empty(rest) {
		return p.wrong(at, "quote", "found %s behind the closing quote; a quote within a quoted text is written \\\" or, in single quotes, ''", excerpt(rest))
	}
	p.next()
	return nil
}

// escapes are those of one character.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// escape reads the escape at a byte of the line, and returns its length.
func (p *parser) escape(q *quote, at int) (int, *Error) {
	text := p.l.text[at:]
	if s, ok := escapes[text[1]]; ok {
		q.escaped(s)
		return 2, nil
	}
	r, n := hex(text)
	if n > 0 && utf16.IsSurrogate(r) {
		low, m := hex(text[n:])
		r = utf16.DecodeRune(r, low) // U+FFFD if the two are no pair
		if n += m; r == utf8.RuneError {
			n = 0
		}
	}
	if n == 0 {
		return 0, p.wrong(at, "escape", `%s is no escape; write a backslash as \\, or use single quotes`, excerpt(text[:min(2, len(text))]))
	}
	q.escaped(string(r))
	return n, nil
}

// hex reads \xHH, \uHHHH or \UHHHHHHHH; the length is 0 if there is none.
func hex(text string) (rune, int) {
	if len(text) < 2 || text[0] != '\\' {
		return 0, 0
	}
	n := 2
	switch text[1] {
	case 'x':
		n += 2
	case 'u':
		n += 4
	case 'U':
		n += 8
	default:
		return 0, 0
	}
	if len(text) < n {
		return 0, 0
	}
	v, err := strconv.ParseUint(text[2:n], 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), n
}
