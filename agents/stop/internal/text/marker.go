package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// marker is what makes a line an item of a list.
type marker struct {
	text    int    // offset of the item's text
	mark    string // as Markdown writes it: "-" or "2.", with the space behind it
	ordered bool
	number  int
}

// itemMarker reads the marker at s[i:].
func itemMarker(s string, i int) (m marker, ok bool) {
	if i >= len(s) {
		return m, false
	}
	switch c := s[i]; {
	case c == '-' || c == '*' || c == '+':
		return bullet(s, i+1)
	case c == '[':
		_, n := checkBox(s[i:])
		return marker{text: i, mark: "- "}, n > 0
	case c == '(' || wordByte(c):
		return ordinal(s, i)
	case c < utf8.RuneSelf:
		return m, false
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if strings.ContainsRune("•–◦▪‣●○■∙·►▸➤➜→", r) {
		m, ok = bullet(s, i+n)
		return m, ok && m.text < len(s)
	}
	// A line with a check mark that ends with a colon introduces a list and is not an item.
	if _, n := checkBox(s[i:]); n > 0 && strings.HasPrefix(s[i+n:], " ") && !endsWithColon(s) {
		return marker{text: i, mark: "- "}, true
	}
	return m, false
}

// bullet reads the space behind a marker that ends at s[end:].
func bullet(s string, end int) (marker, bool) {
	text := skipSpace(s, end)
	return marker{text: text, mark: "-" + space(text-end)}, text > end || end == len(s)
}

// space returns the space behind a marker, n columns if the text is not indented code.
func space(n int) string {
	if n > 4 {
		n = 1
	}
	return strings.Repeat(" ", max(1, n))
}

// ordinal reads "1.", "12)", "a)", "(a)", "(1)" and a digit in a key cap. A capital may
// follow a number at once, as people write it.
func ordinal(s string, i int) (m marker, ok bool) {
	at := i
	if s[at] == '(' {
		at++
	}
	first := at
	for at < len(s) && at-first < 9 && s[at] >= '0' && s[at] <= '9' {
		m.number = 10*m.number + int(s[at]-'0')
		at++
	}
	letter := at == first && at < len(s) && wordByte(s[at])
	if letter {
		m.number = int(s[at]|0x20-'a') + 1
		at++
	}
	rest := s[at:]
	switch {
	case at == first:
		return m, false
	case strings.HasPrefix(rest, "\u20e3"):
		m.text, ok = skipSpace(s, at+len("\u20e3")), true
	case strings.HasPrefix(rest, ")"), strings.HasPrefix(rest, ".") && !letter && first == i:
		m.text = skipSpace(s, at+1)
		ok = m.text > at+1 || m.text == len(s) || at-i <= 2 && s[m.text] >= 'A' && s[m.text] <= 'Z' && !letter
	}
	m.ordered, m.mark = true, strconv.Itoa(m.number)+"."+space(m.text-at-1)
	return m, ok && (m.text < len(s) || !letter && first == i)
}

// checkBox reads "[ ]" and its states, or a picture of one; n is its length, 0 if there is none.
func checkBox(s string) (box Check, n int) {
	if len(s) >= 3 && s[0] == '[' && s[2] == ']' && (len(s) == 3 || s[3] == ' ' || s[3] == '\n') {
		switch s[1] {
		case ' ':
			return Open, 3
		case 'x', 'X':
			return Ticked, 3
		case '-', '~', '/':
			return Begun, 3
		}
		return NoBox, 0
	}
	switch r, n := utf8.DecodeRuneInString(s); r {
	case '☐', '🔲', '⬜', '◻', '🔳', '▢', '□':
		return Open, n
	case '⏳', '⌛', '🔄', '🚧', '🟡':
		return Begun, n
	case '✅', '☑', '✔', '✓', '🗹', '☒':
		return Ticked, n
	case '❌', '✗', '✘', '✖':
		return Crossed, n
	}
	return NoBox, 0
}

// strongLine reports whether a line is all strong text, with a colon, a number or an
// emoji perhaps: people write headings like this. A whole strong sentence is not a heading.
func strongLine(s string) bool {
	mark := strings.IndexAny(s, "*_")
	if len(s) > maxTitle || mark < 0 || mark+5 > len(s) || s[mark:mark+2] != "**" && s[mark:mark+2] != "__" || !ornament(s[:mark]) {
		return false
	}
	body, after, ok := strings.Cut(s[mark+2:], s[mark:mark+2])
	body = strings.TrimSpace(body)
	after = strings.Trim(after, "*_ ")
	return ok && body != "" && (after == "" || after == ":" || ornament(after)) && !strings.ContainsAny(body[len(body)-1:], ".!?")
}

// ornament reports whether s has no letters and nothing that starts a list.
func ornament(s string) bool {
	return len(s) < 16 && !strings.ContainsFunc(s, unicode.IsLetter) && strings.IndexAny(s, "-+*•–|>[") != 0
}

// endsWithColon reports whether the text ends with a colon, emphasis aside.
func endsWithColon(s string) bool {
	return strings.HasSuffix(strings.TrimRight(s, " *_"), ":")
}

// startsSentence reports whether a text looks like the start of a sentence: a capital that
// does not begin an acronym, an emoji, or a quotation.
func startsSentence(s string) bool {
	s = strings.TrimLeft(s, "*_(\"")
	r, n := utf8.DecodeRuneInString(s)
	if r < utf8.RuneSelf {
		return r >= 'A' && r <= 'Z' && (len(s) == n || s[n] < 'A' || s[n] > 'Z')
	}
	return unicode.IsUpper(r) || isSign(r) || strings.ContainsRune("‘“„‟‹«", r)
}

// isSign reports whether r is an emoji, an arrow or a check mark.
func isSign(r rune) bool {
	return r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.In(r, unicode.S, unicode.No, unicode.Me) || r == '•' || r == '‣')
}

// skipSpace returns the offset behind the white space at s[i:].
func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n') {
		i++
	}
	return i
}
