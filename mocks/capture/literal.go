package capture

import (
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/escape"
)

// unescape decodes a JSON string without its quotes.
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

// offsets maps ascending offsets of a text to its JSON string, in one pass for all of them.
type offsets struct {
	raw      string
	at, text int // the same place in both
}

// of returns the offset in the JSON string of an offset in the text. It rounds an offset within a
// character to the end of the character if up is true, otherwise to its beginning.
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

// step decodes the first character of a JSON string, which has n bytes. Invalid UTF-8 and unpaired
// surrogates become U+FFFD.
func step(raw string) (r rune, n int) {
	if r, n := escape.Next(raw); n > 0 {
		return r, n
	}
	if raw[0] == '\\' && len(raw) > 1 {
		return rune(raw[1]), 2
	}
	return utf8.DecodeRuneInString(raw)
}
