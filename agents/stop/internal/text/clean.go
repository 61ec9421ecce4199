package text

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// source is a text with the range of the message that each of its bytes stands for.
type source struct {
	text []byte
	from []Span
}

// add appends a text that stands for a range of the message.
func (s *source) add(text string, at Span) {
	s.text = append(s.text, text...)
	for range len(text) {
		s.from = append(s.from, at)
	}
}

// reset empties the source and keeps its memory.
func (s *source) reset() { s.text, s.from = s.text[:0], s.from[:0] }

// copy appends a part of another source.
func (s *source) copy(other *source, start, end int) {
	s.text = append(s.text, other.text[start:end]...)
	s.from = append(s.from, other.from[start:end]...)
}

// span returns the range of the message that the text from start to end stands for.
func (s *source) span(start, end int) Span {
	if start >= end {
		start = min(start, len(s.from)-1)
		return Span{s.from[start].Start, s.from[start].Start}
	}
	return Span{s.from[start].Start, s.from[end-1].End}
}

// clean appends a part of the message in plain spelling: its encoding is repaired, letters
// lose their accents, typographic characters become those of ASCII, and what cannot be seen
// is dropped.
func (s *source) clean(message string, part Span) {
	message = message[:part.End]
	for i := part.Start; i < part.End; {
		c := message[i]
		text, n := message[i:i+1], 1
		switch {
		case c >= utf8.RuneSelf:
			var r rune
			r, n = decode(message, i)
			text = plain(r)
			if accent(r) && len(s.from) > 0 && s.from[len(s.from)-1].End == i {
				s.from[len(s.from)-1].End += n
			}
		case c == '\x1b':
			text, n = "", escapeLen(message[i:])
		case c == '&':
			text, n = entity(message[i:])
		case c == '\r' && strings.HasPrefix(message[i+1:], "\n"):
			text = ""
		case c == '\r':
			text = "\n"
		case c < ' ' && c != '\n' && c != '\t' || c == 0x7f:
			text = " "
		}
		s.add(text, Span{i, i + n})
		i += n
	}
}

// escapeLen returns the length of a control sequence of a terminal.
func escapeLen(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 1
	}
	n := 2
	for n < len(s) && s[n] >= ' ' && s[n] < '@' {
		n++
	}
	return min(n+1, len(s))
}

// entity returns the character that a reference such as "&nbsp;" stands for, without the
// meaning that it could have for Markdown.
func entity(s string) (text string, n int) {
	n = strings.IndexByte(s[:min(len(s), 10)], ';') + 1
	if n < 3 {
		return "&", 1
	}
	meaning := html.UnescapeString(s[:n])
	if meaning == s[:n] {
		return "&", 1
	}
	switch r, _ := utf8.DecodeRuneInString(meaning); {
	case r >= utf8.RuneSelf:
		return plain(r), n
	case r == '\'' || isWord(r):
		return string(r), n
	}
	return " ", n
}

// plain returns a character beyond ASCII in plain spelling: the base letter of a letter, the
// nearest ASCII character of punctuation, nothing for what cannot be seen.
func plain(r rune) string {
	switch {
	case accent(r):
		return ""
	case r >= 0xFF01 && r <= 0xFF5E: // full width
		return string(r - 0xFEE0)
	}
	switch r {
	case 0xA0, 0x85, 0x1680, 0x3000, 0x2028, 0x2029, 0x202F, 0x205F:
		return " "
	case 0xAD, 0x180E, 0xFEFF, 0x61C:
		return ""
	case '’', '‛', '′', 'ʼ', 'ʹ', '´', 'ˈ':
		return "'"
	case 0x2010, 0x2011:
		return "-"
	case '…':
		return "..."
	case '‼':
		return "!"
	case '⁈', '⁇', '⁉':
		return "?"
	case '。':
		return "."
	}
	switch {
	case r >= 0x2000 && r <= 0x200A:
		return " "
	case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r >= 0xFE00 && r <= 0xFE0F:
		return ""
	case isWord(r):
		return letter(r)
	}
	return string(r)
}

// accent reports whether r is a combining accent.
func accent(r rune) bool { return unicode.Is(unicode.Mn, r) }

// letter returns the base letters of a letter: "e" for "é", "OE" for "Œ".
func letter(r rune) string {
	var base strings.Builder
	for _, c := range textfold.Join(string(r)) {
		if c == r {
			base.WriteRune(c)
		} else {
			base.WriteString(plain(c)) // a mark that the letter is equivalent to
		}
	}
	switch {
	case base.Len() == 0:
		return string(r)
	case unicode.IsUpper(r):
		return strings.ToUpper(base.String())
	}
	return base.String()
}

// isWord reports whether a character of plain spelling is a part of words.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return wordByte(byte(r))
	}
	return unicode.In(r, unicode.L, unicode.Nd, unicode.M) && (r < 0x20D0 || r > 0x20FF)
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
