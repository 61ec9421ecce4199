package diff

import (
	"strings"
	"unicode"
)

// compareText compares lines, and the words of lines that replace each other.
func compareText(expected, actual string) []Line {
	a, b := splitLines(expected), splitLines(actual)
	var out []Line
	for _, h := range hunks(a, b) {
		for _, line := range a[h.a:h.same] {
			out = append(out, plain(Same, line))
		}
		out = append(out, replaceLines(a[h.same:h.aEnd], b[h.b:h.bEnd])...)
	}
	return out
}

// splitLines returns the lines of a text. The line breaks of Windows are like others, and the last
// one is shown as an empty line, so that a text without it differs.
func splitLines(s string) []string {
	return strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
}

// replaceLines returns missing and extra lines. If they are as many, the words in which each
// differs from its counterpart are marked.
func replaceLines(missing, extra []string) []Line {
	out, added := make([]Line, 0, len(missing)+len(extra)), make([]Line, 0, len(extra))
	paired := len(missing) == len(extra)
	for _, line := range missing {
		out = append(out, plain(Missing, line))
	}
	for i, line := range extra {
		added = append(added, plain(Extra, line))
		if paired {
			out[i].Spans, added[i].Spans = compareWords(missing[i], line)
		}
	}
	return append(out, added...)
}

// compareWords returns two lines with the words marked in which they differ; nothing is marked if
// they have little in common.
func compareWords(expected, actual string) (missing, extra []Span) {
	a, b := splitWords(expected), splitWords(actual)
	same := 0
	for _, h := range hunks(a, b) {
		for _, word := range a[h.a:h.same] {
			same += len(strings.TrimSpace(word))
		}
		missing = addWords(missing, a[h.a:h.same], false)
		extra = addWords(extra, a[h.a:h.same], false)
		missing = addWords(missing, a[h.same:h.aEnd], true)
		extra = addWords(extra, b[h.b:h.bEnd], true)
	}
	if same == 0 || same*4 < min(len(expected), len(actual)) {
		return []Span{{Text: expected}}, []Span{{Text: actual}}
	}
	return missing, extra
}

func addWords(spans []Span, words []string, changed bool) []Span {
	if len(words) == 0 {
		return spans
	}
	return append(spans, Span{Text: strings.Join(words, ""), Changed: changed})
}

// splitWords splits a line into words, blanks and other characters.
func splitWords(s string) (words []string) {
	from, last := 0, -1
	for i, r := range s {
		class := 2
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_':
			class = 0
		case unicode.IsSpace(r):
			class = 1
		}
		if i > from && (class != last || class == 2) {
			words = append(words, s[from:i])
			from = i
		}
		last = class
	}
	if from < len(s) {
		words = append(words, s[from:])
	}
	return words
}
