package step

import (
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// line is one line of the answer.
type line struct {
	start int    // offset of its first byte in the answer
	lead  int    // spaces before the text
	text  string // from the first character that is not a space, without the line break
}

// end returns the offset behind the text.
func (l line) end() int { return l.start + l.lead + len(l.text) }

// blank reports whether the line is empty or white space.
func (l line) blank() bool {
	return l.text == "" || (l.text[0] == '\t' || l.text[0] == '\v') && strings.TrimSpace(l.text) == ""
}

func (l line) comment() bool { return strings.HasPrefix(strings.TrimLeft(l.text, "\t "), "#") }

// split finds the beginnings of the lines. Only these are stored, as an answer can have
// millions of lines.
func (p *parser) split() {
	p.starts = make([]int32, 0, strings.Count(p.text, "\n")+1)
	start := 0
	for l := range strings.Lines(p.text) {
		p.starts = append(p.starts, int32(start)) //nolint:gosec // at most maxBytes
		start += len(l)
	}
}

// line returns the line with an index; after the end of the answer it is empty.
func (p *parser) line(i int) line {
	if i >= len(p.starts) {
		return line{start: len(p.text)}
	}
	start, end := int(p.starts[i]), len(p.text)
	if i+1 < len(p.starts) {
		end = int(p.starts[i+1])
	}
	text := strings.TrimSuffix(strings.TrimSuffix(p.text[start:end], "\n"), "\r")
	trimmed := strings.TrimLeft(text, " ")
	return line{start: start, lead: len(text) - len(trimmed), text: trimmed}
}

// indent returns the number of spaces of a line behind the margin of the open fence.
func (p *parser) indent(l line) int { return max(0, l.lead-p.fence.margin) }

// fence is a code fence of Markdown.
type fence struct {
	mark   byte // '`' or '~'; 0: no fence
	length int
	margin int // spaces before it, which all its lines may have
	info   string
}

// fenceOf parses a line that opens a fence.
func fenceOf(text string) (fence, bool) {
	n := fenceMarks(text)
	if n < 3 {
		return fence{}, false
	}
	info := strings.TrimSpace(text[n:])
	if text[0] == '`' && strings.IndexByte(info, '`') >= 0 {
		return fence{}, false // code within a line
	}
	return fence{mark: text[0], length: n, info: info}, true
}

// fenceMarks counts the equal fence characters at the beginning of a text.
func fenceMarks(text string) int {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return 0
	}
	return len(text) - len(strings.TrimLeft(text, text[:1]))
}

// closes reports whether a line closes the fence.
func (f fence) closes(text string) bool {
	if f.mark == 0 || text == "" || text[0] != f.mark {
		return false
	}
	n := fenceMarks(text)
	return n >= f.length && strings.TrimSpace(text[n:]) == ""
}

// class is the role of a line, seen from the left margin.
type class int

const (
	prose class = iota
	blank
	comment
	separator // ---
	ending    // ...
	opening   // of a fence
	closing   // of the open fence
	indented
	tabbed  // begins with a tab, which YAML does not accept as indentation
	keyLine // key: …
	item    // - …
)

func (p *parser) class(l line) class {
	switch {
	case l.blank():
		return blank
	case p.indent(l) > 0:
		return indented
	case l.text[0] == '\t':
		return tabbed
	case l.text[0] == '#':
		return comment
	case isMark(l.text, "---"):
		return separator
	case isMark(l.text, "..."):
		return ending
	case isMark(l.text, "-"), strings.HasPrefix(l.text, "- "), strings.HasPrefix(l.text, "-\t"):
		return item
	case p.fence.closes(l.text):
		return closing
	}
	if _, ok := fenceOf(l.text); ok && p.fence.mark == 0 {
		return opening
	}
	if _, _, ok := cutKey(l.text); ok {
		return keyLine
	}
	return prose
}

// isMark reports whether a line consists of a YAML marker, and maybe a comment.
func isMark(text, mark string) bool {
	rest, ok := strings.CutPrefix(text, mark)
	return ok && (rest == "" || isSpace(rest[0]) && isEmpty(rest))
}

// isEmpty reports whether the rest of a line after a key or marker is white space or a
// comment.
func isEmpty(rest string) bool {
	trimmed := strings.TrimLeft(rest, " \t")
	return trimmed == "" || trimmed[0] == '#' && len(trimmed) < len(rest)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// keyPattern matches the key of a line `key: value`: a word without spaces, maybe quoted.
var keyPattern = lazyregexp.New(`^(["']?)([0-9A-Za-z_\x{80}-\x{10FFFF}][0-9A-Za-z_.\x{80}-\x{10FFFF}-]{0,64})(["']?)[ \t]*:(?:[ \t]|$)`)

// cutKey returns the key of a line `key: value` and the offset behind the colon.
func cutKey(text string) (key string, value int, ok bool) {
	m := keyPattern().FindStringSubmatchIndex(text)
	if m == nil || text[m[2]:m[3]] != text[m[6]:m[7]] { // the quotes
		return "", 0, false
	}
	return text[m[4]:m[5]], m[7] + strings.IndexByte(text[m[7]:], ':') + 1, true
}

// pos returns the position of a byte of a line's text.
func (p *parser) pos(i, off int) Pos {
	l := p.line(i)
	return Pos{Line: i + 1, Column: l.lead + utf8.RuneCountInString(l.text[:min(off, len(l.text))]) + 1}
}

// cut returns the answer between two offsets; its further lines lose up to margin
// leading spaces.
func (p *parser) cut(from, to, margin int) string {
	text := p.text[from:max(from, to)]
	if margin == 0 || !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	first := true
	for l := range strings.Lines(text) {
		for k := 0; !first && k < margin && strings.HasPrefix(l, " "); k++ {
			l = l[1:]
		}
		b.WriteString(l)
		first = false
	}
	return b.String()
}
