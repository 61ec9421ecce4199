package text

import "strings"

// marker is what makes a line an item of a list.
type marker struct {
	text    int // offset of the item's text
	width   int // columns from the marker to the text
	ordered bool
	number  int
	box     Check
	// picture is true where an emoji is the bullet.
	picture bool
}

// itemMarker reads the marker at s[i:end].
func itemMarker(s string, i, end int) (m marker, ok bool) {
	if i >= end {
		return m, false
	}
	switch c := s[i]; {
	case c == '-' || c == '*' || c == '+':
		m, ok = bullet(s, i, 1, end)
	case c >= '0' && c <= '9':
		m, ok = ordinal(s, i, end)
	case c == '(' || c|0x20 >= 'a' && c|0x20 <= 'z':
		m, ok = lettered(s, i, end)
	case c == '[':
		box, n := checkBox(s, i, end)
		return marker{text: skipSpace(s, i+n, end), width: n + 1, box: box}, box != NoBox
	case c >= 0x80:
		m, ok = picture(s, i, end)
	}
	if !ok || m.box != NoBox {
		return m, ok
	}
	if box, n := checkBox(s, m.text, end); n > 0 {
		m.box = box
		m.text = skipSpace(s, m.text+n, end)
	}
	return m, true
}

// bullet reads the space behind a bullet of n bytes.
func bullet(s string, i, n, end int) (marker, bool) {
	text := i + n
	if text >= end {
		return marker{text: end, width: 2}, true
	}
	if spaceLen(s, text) == 0 {
		return marker{}, false
	}
	l := measure(s, text, end, 1)
	width := l.indent
	if width > 5 { // the text is indented code; it belongs to the item all the same
		width = 2
	}
	return marker{text: l.first, width: width}, true
}

// ordinal reads "1.", "12)", and a digit in a key cap. A letter may follow at
// once, as people write it, but a digit may not.
func ordinal(s string, i, end int) (marker, bool) {
	number, at := 0, i
	for at < end && at-i < 9 && s[at] >= '0' && s[at] <= '9' {
		number = 10*number + int(s[at]-'0')
		at++
	}
	if keycap := "\ufe0f\u20e3"; strings.HasPrefix(s[at:end], keycap) {
		at += len(keycap)
		return marker{text: skipSpace(s, at, end), width: 3, ordered: true, number: number}, true
	}
	if at >= end || s[at] != '.' && s[at] != ')' {
		return marker{}, false
	}
	m, ok := bullet(s, at, 1, end)
	if !ok && at-i <= 2 && s[at+1]|0x20 >= 'a' && s[at+1]|0x20 <= 'z' && s[at+1] < 'a' {
		m, ok = marker{text: at + 1, width: 1}, true
	}
	m.width += at - i
	m.ordered, m.number = true, number
	return m, ok
}

// lettered reads "a)", "(a)" and "(1)".
func lettered(s string, i, end int) (marker, bool) {
	at := i
	if s[at] == '(' {
		at++
	}
	first := at
	number := 0
	for at < end && at-first < 3 && s[at] >= '0' && s[at] <= '9' {
		number = 10*number + int(s[at]-'0')
		at++
	}
	if at == first && at < end && s[at]|0x20 >= 'a' && s[at]|0x20 <= 'z' {
		number = int(s[at]|0x20-'a') + 1
		at++
	}
	if at == first || at >= end || s[at] != ')' {
		return marker{}, false
	}
	m, ok := bullet(s, at, 1, end)
	m.width += at - i
	m.ordered, m.number = true, number
	return m, ok && m.text < end
}

// checkBox reads "[ ]" and its states, or a picture of one, with the space
// behind it; n is 0 if there is none.
func checkBox(s string, i, end int) (box Check, n int) {
	if i+3 <= end && s[i] == '[' && s[i+2] == ']' && (i+3 == end || spaceLen(s, i+3) > 0) {
		switch s[i+1] {
		case ' ':
			return Open, 3
		case 'x', 'X':
			return Ticked, 3
		case '-', '~', '/':
			return Begun, 3
		}
		return NoBox, 0
	}
	if i >= end || s[i] < 0x80 {
		return NoBox, 0
	}
	r, n := decode(s, i)
	if strings.HasPrefix(s[i+n:end], "\ufe0f") {
		n += len("\ufe0f")
	}
	switch r {
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

// picture reads a bullet beyond ASCII: a typographic one, or a check mark. A line
// with a check mark that ends with a colon introduces a list and is not an item.
func picture(s string, i, end int) (marker, bool) {
	r, n := decode(s, i)
	switch r {
	case '•', '–', '◦', '▪', '‣', '●', '○', '■', '∙', '·', '►', '▸', '➤', '➜', '→':
		if m, ok := bullet(s, i, n, end); ok && m.text < end {
			return m, true
		}
		return marker{}, false
	}
	box, n := checkBox(s, i, end)
	if n == 0 || spaceLen(s, i+n) == 0 || endsWithColon(s[:end]) {
		return marker{}, false
	}
	return marker{text: skipSpace(s, i+n, end), width: 2, box: box, picture: true}, true
}

// endsWithColon reports whether the text ends with a colon, emphasis aside.
func endsWithColon(s string) bool {
	s = strings.TrimRight(s, " \t\r*_")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")
}
