package text

import "strings"

// line is a line of the message without its line break.
type line struct {
	start, end int
	first      int // offset of the first character that is not a space; end if there is none
	indent     int // columns of space before it; a tab goes to the next multiple of 4
}

// lines cuts a message into lines.
type lines struct {
	s    string
	at   int
	line line
}

func (l *lines) reset(s string) { l.s, l.at = s, 0 }

// next reads the next line into l.line and reports whether there was one.
func (l *lines) next() bool {
	if l.at >= len(l.s) {
		return false
	}
	start, end := l.at, len(l.s)
	l.at = end
	if n := strings.IndexByte(l.s[start:], '\n'); n >= 0 {
		end = start + n
		l.at = end + 1
	}
	l.line = measure(l.s, start, end, 0)
	return true
}

// measure finds where the text of s[start:end] begins, the first byte of which
// is in the column given.
func measure(s string, start, end, column int) line {
	for end > start && (s[end-1] == ' ' || s[end-1] == '\t' || s[end-1] == '\r') {
		end--
	}
	l := line{start: start, end: end, first: start, indent: column}
	for l.first < end {
		switch c := s[l.first]; {
		case c == '\t':
			l.indent += 4 - l.indent%4
			l.first++
		case c == ' ' || c == '\r' || c == 0:
			l.indent++
			l.first++
		case c >= 0x80:
			r, n := decode(s, l.first)
			kind := sortOf(r)
			if kind != space && kind != invisible || l.first+n > end {
				return l
			}
			if kind == space {
				l.indent++
			}
			l.first += n
		default:
			return l
		}
	}
	return l
}

// spaceLen returns the length of the white space character at s[i:], 0 if there is none.
func spaceLen(s string, i int) int {
	if i >= len(s) {
		return 0
	}
	switch c := s[i]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return 1
	case c < 0x80:
		return 0
	}
	r, n := decode(s, i)
	if sortOf(r) == space {
		return n
	}
	return 0
}

// skipSpace returns the offset behind all white space at s[i:end].
func skipSpace(s string, i, end int) int {
	for i < end {
		n := spaceLen(s, i)
		if n == 0 {
			break
		}
		i += n
	}
	return min(i, end)
}

// only reports whether s consists of the byte c and of white space, with n or more
// of c.
func only(s string, c byte, n int) bool {
	for i := range len(s) {
		switch s[i] {
		case c:
			n--
		case ' ', '\t':
		default:
			return false
		}
	}
	return n <= 0
}
