package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// marker is what makes a line an item of a list.
type marker struct {
	text    int    // offset of the item's text
	mark    string // as Markdown writes it: "-" or "2.", with the space behind it
	ordered bool
	number  int
}

// itemForm is a bullet, "1.", "12)", a digit in a key cap, "(1)", "a)" or "(a)", with the space behind.
var itemForm = lazyregexp.New(`^(?:[-*+•–◦▪‣●○■∙·►▸➤➜→]|(\d{1,9})(?:[.)]|\x{20E3})|\((\d{1,9})\)|\(?([A-Za-z])\))([ \t]*)`)

// itemMarker reads the marker that a line begins with. A line with a check mark is an item too,
// unless it ends with a colon and so introduces a list.
func itemMarker(s string) (m marker, ok bool) {
	g := itemForm().FindStringSubmatch(s)
	if g == nil {
		_, n := checkBox(s)
		return marker{mark: "- "}, n > 0 && (s[0] == '[' || strings.HasPrefix(s[n:], " ") && !endsWithColon(s))
	}
	m = marker{text: len(g[0]), mark: "-"}
	switch number := g[1] + g[2]; {
	case g[3] != "":
		m.ordered, m.number = true, int(g[3][0]|0x20-'a')+1
	case number != "":
		m.ordered = true
		m.number, _ = strconv.Atoi(number)
	}
	if m.ordered {
		m.mark = strconv.Itoa(m.number) + "."
	}
	// The text may be as indented as code without being code. A capital may follow a number at once.
	width := len(g[4])
	if width == 0 || width > 4 {
		width = 1
	}
	m.mark += strings.Repeat(" ", width)
	switch {
	case m.text == len(s):
		return m, g[1] != "" || strings.IndexByte("-*+", s[0]) >= 0
	case g[4] == "" && !strings.HasSuffix(g[0], "\u20e3"):
		return m, g[1] != "" && len(g[1]) <= 2 && s[m.text] >= 'A' && s[m.text] <= 'Z'
	}
	return m, true
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

// strongLine is a line that is all strong text, with a colon, a number or an emoji perhaps:
// people write headings like this. A whole strong sentence is not a heading.
var strongLine = lazyregexp.New(`^(?:[^-+*_•–|>[\pL][^*_\pL]{0,14})?` +
	`(?:\*\*[^*]*[^\s.!?*][ ]*\*\*|__[^_]*[^\s.!?_][ ]*__)[*_: ]*[^\pL]{0,15}$`)

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
