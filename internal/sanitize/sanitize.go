// Package sanitize makes text of unknown origin, such as a model's answer or a file name, safe to show: it
// cannot move a cursor, change a colour, reverse a line or break a file format.
package sanitize

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// zeroWidthJoiner joins emoji. It is the only permitted invisible character.
const zeroWidthJoiner = '\u200d'

// Line returns s as one line of at most limit runes (0: no limit). Runs of line breaks and tabs become one
// space. Other invisible characters, such as ESC, NUL and bidirectional overrides, become Go escapes
// ("\x1b"), and invalid UTF-8 becomes U+FFFD. Truncated text ends in "…".
func Line(s string, limit int) string {
	if isPlain(s) {
		return Cut(strings.TrimSpace(s), limit)
	}
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for i, r := range s {
		if limit > 0 && i > 0 && b.Len() > utf8.UTFMax*limit {
			break // the rest will be truncated
		}
		if isBreak(r) {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		writeRune(&b, r)
	}
	return Cut(strings.TrimSpace(b.String()), limit)
}

// Text is Line for several lines: it keeps line breaks and tabs, and converts CR LF to LF.
func Text(s string, limit int) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if isPlain(s) {
		return Cut(s, limit)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		if limit > 0 && i > 0 && b.Len() > utf8.UTFMax*limit {
			break
		}
		if r == '\n' || r == '\t' {
			b.WriteRune(r)
			continue
		}
		writeRune(&b, r)
	}
	return Cut(b.String(), limit)
}

// mostLines is the maximum number of lines of Lines.
const mostLines = 20

// Lines returns the lines of a text, like Line with at most limit runes each, but with their indentation
// and without empty lines. Of more than 20 lines it returns an Excerpt.
func Lines(s string, limit int) []string {
	var lines []string
	for line := range strings.Lines(Text(s, 0)) {
		line = strings.ReplaceAll(strings.TrimRight(line, " \t\n"), "\t", "  ")
		if line != "" {
			lines = append(lines, Cut(line, limit))
		}
	}
	return Excerpt(lines, mostLines)
}

// isPlain reports whether s is printable ASCII, as nearly all text is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\t', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

func writeRune(b *strings.Builder, r rune) {
	if unicode.IsGraphic(r) || r == zeroWidthJoiner {
		b.WriteRune(r) // U+FFFD is graphic, so broken UTF-8 arrives here
		return
	}
	quoted := strconv.QuoteRuneToASCII(r)
	b.WriteString(quoted[1 : len(quoted)-1])
}

// Code returns s as a Markdown code span of one line of at most limit runes (0: no limit), in which
// foreign text cannot be Markdown, HTML, a mention or a link. It replaces a vertical bar by a broken bar,
// because a bar ends the cell of a table even in a code span.
func Code(s string, limit int) string {
	s = strings.ReplaceAll(Line(s, limit), "|", "¦")
	if s == "" {
		return ""
	}
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		s = " " + s + " " // one space on each side belongs to the fence
	}
	return fence + s + fence
}
