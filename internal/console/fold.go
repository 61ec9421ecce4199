package console

import (
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Fold breaks a line into lines of at most width columns, between words. A longer word is broken if
// hard is true, and otherwise has its own line. Colours end at the end of each line and continue in
// the next one; runs of spaces become one space.
func Fold(s string, width int, hard bool) []string {
	f := folding{width: max(width, 1)}
	for word := range strings.FieldsSeq(s) {
		w := Width(word)
		switch {
		case f.used == 0:
		case f.used+1+w <= f.width:
			f.line.WriteByte(' ')
			f.used++
		default:
			f.end()
		}
		f.word(word, hard && w > f.width)
	}
	f.end()
	return f.lines
}

// folding is the state of Fold.
type folding struct {
	width int
	lines []string
	line  strings.Builder
	used  int    // columns of the line
	color string // codes that are in effect
}

// word adds a word, with line breaks inside it if it is broken.
func (f *folding) word(word string, broken bool) {
	for i, rest := 0, word; i < len(word); rest = word[i:] {
		if code := sgr(rest); code != "" {
			f.line.WriteString(code)
			if f.color += code; code == reset {
				f.color = ""
			}
			i += len(code)
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		w := text.RuneWidth(r)
		if broken && f.used > 0 && f.used+w > f.width {
			f.end()
		}
		f.line.WriteString(rest[:size])
		f.used += w
		i += size
	}
}

func (f *folding) end() {
	line := f.line.String()
	if f.color != "" {
		line += reset
	}
	f.lines = append(f.lines, line)
	f.line.Reset()
	f.line.WriteString(f.color)
	f.used = 0
}

const reset = "\x1b[0m"

// sgr returns the colour code at the beginning of s, if any.
func sgr(s string) string {
	if !strings.HasPrefix(s, "\x1b[") {
		return ""
	}
	if end := strings.IndexByte(s, 'm'); end > 0 && strings.Trim(s[2:end], "0123456789;") == "" {
		return s[:end+1]
	}
	return ""
}
