package capture

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape is the text that the inside of a JSON string stands for.
func unescape(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	text := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		r, n := step(raw)
		text = utf8.AppendRune(text, r)
		raw = raw[n:]
	}
	return string(text)
}

// rawOffset is where, in the inside of a JSON string, the byte at of its text stands. An
// offset within a character is that of its end if up is set, and else of its beginning.
func rawOffset(raw []byte, at int, up bool) int {
	text := 0
	for i := 0; i < len(raw); {
		if text >= at {
			return i
		}
		r, n := step(raw[i:])
		size := utf8.RuneLen(r)
		if text+size > at && !up {
			return i
		}
		text += size
		i += n
	}
	return len(raw)
}

// step reads the first character of the inside of a JSON string, which is n bytes there.
// What is not UTF-8, and half a pair of surrogates, reads as U+FFFD.
func step(raw []byte) (r rune, n int) {
	if raw[0] != '\\' || len(raw) == 1 {
		return utf8.DecodeRune(raw)
	}
	switch c := raw[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(c), 2
	}
	first, ok := hex4(raw)
	if !ok {
		return 'u', 2
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	if second, ok := hex4(raw[6:]); ok {
		if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads an escape of the form \u0041.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(v), err == nil
}
