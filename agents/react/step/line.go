package step

import (
	"regexp"
	"strings"
	"unicode/utf8"
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

// offsets are the offsets of a line in the answer. They are small, as an answer can have
// millions of lines.
type offsets struct{ start, text, end int32 }

// split collects the lines of the answer.
func (p *parser) split() {
	p.lines = make([]offsets, 0, strings.Count(p.text, "\n")+1)
	for start := 0; start < len(p.text); {
		next := len(p.text)
		end := next
		if i := strings.IndexByte(p.text[start:], '\n'); i >= 0 {
			end = start + i
			next = end + 1
		}
		if end > start && p.text[end-1] == '\r' {
			end--
		}
		text := start
		for text < end && p.text[text] == ' ' {
			text++
		}
		p.lines = append(p.lines, offsets{int32(start), int32(text), int32(end)}) //nolint:gosec // at most maxBytes
		start = next
	}
}

// line returns the line with an index; after the end of the answer it is empty.
func (p *parser) line(i int) line {
	if i >= len(p.lines) {
		return line{start: len(p.text)}
	}
	o := p.lines[i]
	return line{start: int(o.start), lead: int(o.text - o.start), text: p.text[o.text:o.end]}
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
var keyPattern = regexp.MustCompile(`^(["']?)([0-9A-Za-z_\x{80}-\x{10FFFF}][0-9A-Za-z_.\x{80}-\x{10FFFF}-]{0,64})(["']?)[ \t]*:(?:[ \t]|$)`)

// cutKey returns the key of a line `key: value` and the offset behind the colon.
func cutKey(text string) (key string, value int, ok bool) {
	m := keyPattern.FindStringSubmatchIndex(text)
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
