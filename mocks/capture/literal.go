package capture

import (
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/escape"
)

// unescape returns the text of the inside of a JSON string.
func unescape(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 && utf8.ValidString(raw) {
		return raw
	}
	text := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		r, n := step(raw)
		text = utf8.AppendRune(text, r)
		raw = raw[n:]
	}
	return string(text)
}

// offsets maps offsets of a text to the inside of its JSON string. They
// must not fall, so that all of them together cost one pass.
type offsets struct {
	raw      string
	at, text int // the same place in both
}

// of returns the offset in the JSON string of the text's byte at. An offset within a
// character becomes that of its end if up is set, and else of its beginning.
func (o *offsets) of(at int, up bool) int {
	for o.at < len(o.raw) && o.text < at {
		r, n := step(o.raw[o.at:])
		size := utf8.RuneLen(r)
		if o.text+size > at && !up {
			break
		}
		o.text += size
		o.at += n
	}
	return o.at
}

// step reads the first character of the inside of a JSON string, which is n bytes there.
// What is not UTF-8, and half a pair of surrogates, reads as U+FFFD.
func step(raw string) (r rune, n int) {
	if r, n := escape.Next(raw); n > 0 {
		return r, n
	}
	if raw[0] == '\\' && len(raw) > 1 {
		return rune(raw[1]), 2
	}
	return utf8.DecodeRuneInString(raw)
}
