package validate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// heading is a line that may be a heading, parsed.
type heading struct {
	// number of a keycap or of "1."; 0 for a heading without a number.
	number int
	keycap bool
	// marked is true if the line begins with marks of Markdown ("#" or "**"), and whole if the marks
	// apply to the whole line.
	marked, whole bool
	// sign is the emoji before the text, without variation selector, or 0.
	sign rune
	rest string
}

const (
	selector  = "\uFE0F"
	keycapEnd = "\u20E3"
)

// readHeading reads the marks at the start of a line.
func readHeading(line string) heading {
	h := heading{rest: strings.TrimSpace(line)}
	h.trimMarks()
	if h.number, h.rest = keycap(h.rest); h.number > 0 {
		h.keycap = true
	} else {
		h.number, h.rest = ordinal(h.rest)
	}
	h.trimMarks()
	c, size := utf8.DecodeRuneInString(h.rest)
	if size > 1 && (unicode.Is(unicode.So, c) || unicode.Is(unicode.Sm, c)) {
		h.sign = c
		h.rest = strings.TrimSpace(strings.TrimPrefix(h.rest[size:], selector))
	}
	h.trimMarks()
	text := strings.TrimRight(line, " \t\r\n:")
	h.whole = h.marked && (strings.HasPrefix(strings.TrimSpace(line), "#") || strings.HasSuffix(text, "*") || strings.HasSuffix(text, "_"))
	return h
}

// trimMarks removes marks of Markdown.
func (h *heading) trimMarks() {
	rest := strings.TrimLeft(h.rest, "#>*_ \t\u00a0\u200b\ufeff")
	h.marked = h.marked || strings.ContainsAny(h.rest[:len(h.rest)-len(rest)], "#*_")
	h.rest = rest
}

// keycap reads "1️⃣", with or without the variation selector.
func keycap(s string) (int, string) {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return 0, s
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(s[1:], selector), keycapEnd)
	if !ok {
		return 0, s
	}
	return int(s[0] - '0'), strings.TrimSpace(rest)
}

// ordinal reads "1." and "1)".
func ordinal(s string) (int, string) {
	if len(s) < 3 || s[0] < '1' || s[0] > '9' || s[1] != '.' && s[1] != ')' || s[2] != ' ' && s[2] != '*' {
		return 0, s
	}
	return int(s[0] - '0'), strings.TrimSpace(s[2:])
}

// cutTitle removes a title from the start of a text, with the closing emphasis, the remark in
// parentheses, the colon or the dash after it. alone is true if the title ends there, as a heading
// does.
func cutTitle(text string, title []string) (body string, alone, ok bool) {
	r := textfold.NewReader(text)
	end := 0
	for i, want := range title {
		w, more := r.Next()
		if !more || string(w.Text) != want || i > 0 && strings.ContainsAny(w.Gap, ".:\n") {
			return "", false, false
		}
		end = w.End
	}
	rest := strings.TrimLeft(text[end:], "*_ \t\u00a0\u202f")
	if strings.HasPrefix(rest, "(") {
		if i := strings.IndexByte(rest, ')'); i > 0 {
			rest = strings.TrimLeft(rest[i+1:], "*_ \t\u00a0\u202f")
		}
	}
	body = strings.TrimLeft(rest, ":—–-*_ \t\u00a0\u202f")
	return strings.TrimSpace(body), rest == "" || body != rest, true
}
