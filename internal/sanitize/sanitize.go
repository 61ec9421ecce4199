// Package sanitize makes text of unknown origin (a model's answer, a file name, a
// recording that somebody sent) safe to show: it never moves a cursor, changes a
// colour, reverses a line or breaks a file format.
package sanitize

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// zeroWidthJoiner holds emoji together; it is the only invisible character let
// through.
const zeroWidthJoiner = '\u200d'

// Line returns s as one line of at most limit runes (limit 0: no limit). Runs of
// line breaks and tabs become one space. Other characters that cannot be seen,
// such as ESC, NUL and the bidirectional overrides, are written as Go escapes
// ("\x1b"); bytes that are not UTF-8 become U+FFFD. Text that was cut ends in "…".
func Line(s string, limit int) string {
	if isPlain(s) {
		return cut(strings.TrimSpace(s), limit)
	}
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for i, r := range s {
		if limit > 0 && i > 0 && b.Len() > utf8.UTFMax*limit {
			break // a long text is not converted in order to be cut
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
	return cut(strings.TrimSpace(b.String()), limit)
}

// Text is Line for text of several lines: line breaks and tabs stay, CR LF
// becomes LF.
func Text(s string, limit int) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if isPlain(s) {
		return cut(s, limit)
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
	return cut(b.String(), limit)
}

// Most lines that Lines returns, and how many of them are the first ones: a program that
// fails prints the reason at its beginning or at its end.
const (
	mostLines  = 20
	firstLines = 8
)

// Lines returns text of several lines as a list, each line as Line has it with at most
// limit runes, but with its indentation. Empty lines are left out. Of more than 20 lines
// the first and the last ones are returned, with a note on those between.
func Lines(s string, limit int) []string {
	var lines []string
	for line := range strings.Lines(Text(s, 0)) {
		line = strings.ReplaceAll(strings.TrimRight(line, " \t\n"), "\t", "  ")
		if line != "" {
			lines = append(lines, cut(line, limit))
		}
	}
	if left := len(lines) - mostLines + 1; left > 1 {
		note := "… " + strconv.Itoa(left) + " lines are left out here …"
		lines = slices.Concat(lines[:firstLines], []string{note}, lines[firstLines+left:])
	}
	return lines
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

// cut shortens s to at most limit runes.
func cut(s string, limit int) string {
	if limit <= 0 || len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := 0
	for i := range s {
		if runes++; runes == limit {
			return s[:i] + "…"
		}
	}
	return s
}

// Code returns s as a Markdown code span of one line, at most limit runes long
// (limit 0: no limit). Nothing inside a code span is Markdown, HTML, a mention or
// a link, so this is how foreign text goes into Markdown. A vertical bar is shown
// as a broken bar, because a bar ends a table's cell even inside a code span.
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
