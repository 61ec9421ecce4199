package prompt

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// neutral changes a text so that no part of it can be mistaken for another part of a request. Invisible
// characters become Go escapes ("\u202e"). Separators of questions, control tokens of models and
// headers of messages are changed, but stay readable:
//
//	---QUESTION_SEPARATOR---   ---QUESTION·SEPARATOR---
//	<|im_start|>  <system>     ‹|im_start|›  ‹system›
//	[INST]                     (INST)
//	system: do this            > system: do this
//	### Instruction            > ### Instruction
//
// It is idempotent.
func neutral(text string) string {
	text = visible(text)
	var b strings.Builder
	done := 0 // text[:done] is in b
	put := func(from, to int, by string) {
		b.WriteString(text[done:from])
		b.WriteString(by)
		done = to
	}
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		line := text[start:end]
		if headed(line) {
			put(start, start, "> ")
		}
		defuse(line, func(from, to int, by string) { put(start+from, start+to, by) })
		start = end
	}
	if done == 0 && b.Len() == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// zeroWidthJoiner joins emoji and the letters of some scripts.
const zeroWidthJoiner = '\u200d'

// invisible lists invisible characters that Unicode counts as graphic: fillers, joiners, and selectors,
// which can encode hidden texts.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0e, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}},
}

// visible escapes invisible characters, and replaces invalid UTF-8 by U+FFFD and CR LF by LF.
func visible(text string) string {
	first := common(text)
	if first == len(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	done := 0
	for i := first; i < len(text); i += common(text[i:]) {
		r, width := utf8.DecodeRuneInString(text[i:])
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		if by := escape(before, r, width, text[i+width:]); by != "" {
			b.WriteString(text[done:i])
			b.WriteString(by)
			done = i + width
		}
		i += width
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// common returns the length of the prefix that consists of printable ASCII, Latin letters and common
// punctuation. It ends between characters.
func common(text string) int {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c <= '~' || c == '\n' || c == '\t' {
			continue
		}
		switch next := text[i+1:]; {
		case c == 0xc2 && continues(next) && next[0] >= 0xa0 && next[0] != 0xad: // U+00A0 to U+00BF
			i++
		case c >= 0xc3 && c <= 0xc8 && continues(next): // U+00C0 to U+023F
			i++
		case c == 0xe2 && len(next) > 1 && next[0] == 0x80 && next[1] >= 0x90 && next[1] <= 0xa7: // U+2010 to U+2027
			i += 2
		default:
			return i
		}
	}
	return len(text)
}

// continues reports whether a text begins with a continuation byte.
func continues(text string) bool { return text != "" && text[0]&0xc0 == 0x80 }

// escape returns the escape for an invisible character; empty for a visible one.
func escape(before, r rune, width int, after string) string {
	switch {
	case r == utf8.RuneError && width == 1:
		return "\ufffd"
	case isVisible(r):
		return ""
	case r == zeroWidthJoiner:
		if next, _ := utf8.DecodeRuneInString(after); joins(before) && joins(next) {
			return ""
		}
	}
	quoted := strconv.QuoteRuneToASCII(r)
	return quoted[1 : len(quoted)-1]
}

// isVisible reports whether a character is visible, or a space with a visible width.
func isVisible(r rune) bool {
	if r < 0x250 { // Latin letters
		return r >= ' ' && r <= '~' || r >= 0xa0 && r != '\u00ad' || r == '\n' || r == '\t'
	}
	return unicode.IsGraphic(r) && !unicode.Is(invisible, r)
}

// joins reports whether a joiner has a meaning next to a character, as for emoji and Indic scripts.
func joins(r rune) bool { return r >= 0x0900 && r != utf8.RuneError && isVisible(r) }

// The parts of the separator of questions. neutral changes the character between them.
const (
	beforeMark = "question"
	afterMark  = "separator"
)

// defuse replaces the marks in a line.
func defuse(line string, put func(from, to int, by string)) {
	if !marked(line) {
		return
	}
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '_':
			if foldSuffix(line[:i], beforeMark) && foldPrefix(line[i+1:], afterMark) {
				put(i, i+1, "·")
			}
		case '<':
			if end := tag(line[i+1:], '>'); end > 0 {
				put(i, i+1, "‹")
				i += end
				put(i, i+1, "›")
			} else if opensToken(line[i+1:]) {
				put(i, i+1, "‹")
			}
		case '>':
			if closesToken(line[:i]) {
				put(i, i+1, "›")
			}
		case '[':
			if end := tag(line[i+1:], ']'); end > 0 {
				put(i, i+1, "(")
				i += end
				put(i, i+1, ")")
			}
		}
	}
}

// marked reports whether a line has a character that defuse looks at. It takes a fraction of the time of
// strings.ContainsAny.
func marked(line string) bool {
	return strings.IndexByte(line, '_') >= 0 || strings.IndexByte(line, '<') >= 0 ||
		strings.IndexByte(line, '>') >= 0 || strings.IndexByte(line, '[') >= 0
}

// wideBar is the bar in the control tokens of some models.
const wideBar = "｜"

func opensToken(after string) bool {
	return strings.HasPrefix(after, "|") || strings.HasPrefix(after, wideBar)
}

func closesToken(before string) bool {
	return strings.HasSuffix(before, "|") || strings.HasSuffix(before, wideBar)
}

// tag returns the end of a tag that names a role ("system>", "/INST]"), counted from its opening
// bracket, or 0.
func tag(text string, closing byte) int {
	word := strings.TrimPrefix(text, "/")
	end := strings.IndexByte(word[:min(len(word), maxWord+1)], closing)
	if end < 0 || !isRole(strings.TrimSpace(word[:end])) {
		return 0
	}
	return len(text) - len(word) + end + 1
}

// headed reports whether a line begins like another message ("system:", "New instructions:") or like a
// section of a prompt ("### Instruction"), and is not quoted with ">".
func headed(line string) bool {
	head := strings.TrimLeft(line, " \t")
	if head == "" || head[0] == '>' {
		return false
	}
	heading := head[0] == '#'
	head = head[:min(len(head), maxHead)]
	if end := colon(head); end >= 0 {
		head = head[:end]
	} else if !heading {
		return false
	}
	words := strings.FieldsFunc(head, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, word := range words[:min(len(words), 3)] {
		if isRole(word) {
			return true
		}
	}
	return false
}

// colon returns the index of the first colon, else of the first wide colon, or -1 without either.
func colon(text string) int {
	if i := strings.IndexByte(text, ':'); i >= 0 {
		return i
	}
	return strings.Index(text, "：")
}

// The maximum length of a line header and of a role, in bytes.
const (
	maxHead = 48
	maxWord = 14
)

// isRole reports whether a word names a part of a conversation with a model.
func isRole(word string) bool {
	if len(word) > maxWord {
		return false
	}
	switch strings.ToLower(word) {
	case "system", "système", "systeme", "sys", "assistant", "user", "utilisateur", "developer",
		"développeur", "human", "humain", "tool", "function", "role", "inst", "instruction", "instructions",
		"consigne", "consignes", "prompt", "s", "bos", "eos", "start_of_turn", "end_of_turn":
		return true
	}
	return false
}

func foldPrefix(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

func foldSuffix(text, suffix string) bool {
	return len(text) >= len(suffix) && strings.EqualFold(text[len(text)-len(suffix):], suffix)
}
