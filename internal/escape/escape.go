// Package escape decodes the escapes of JSON strings and of URLs.
package escape

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is a way of escaping characters.
type Encoding struct {
	mark byte
	next func(s string) (r rune, n int)
}

// The encodings. JSON includes the escapes \' and \xHH of programming languages. Other characters after a
// backslash are not changed.
var (
	JSON    = Encoding{'\\', Next}
	Percent = Encoding{'%', nextPercent}
)

// Next decodes the escape at the beginning of s, which has n bytes; n is 0 if s does not begin with a
// complete escape. An unpaired surrogate is U+FFFD.
func Next(s string) (r rune, n int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	const escapes, meanings = `"\/'bfnrt`, "\"\\/'\b\f\n\r\t"
	if i := strings.IndexByte(escapes, s[1]); i >= 0 {
		return rune(meanings[i]), 2
	}
	if s[1] == 'x' {
		if v, ok := hex(s, 2, 2); ok && v < utf8.RuneSelf {
			return v, 4
		}
		return 0, 0
	}
	first, ok := unicode(s)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(first):
		return first, 6
	}
	if second, ok := unicode(s[6:]); ok {
		if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// unicode decodes an escape of the form \u0041.
func unicode(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	return hex(s, 2, 4)
}

// hex reads n hexadecimal digits of s from offset from on.
func hex(s string, from, n int) (rune, bool) {
	if len(s) < from+n {
		return 0, false
	}
	v, err := strconv.ParseUint(s[from:from+n], 16, 32)
	return rune(v), err == nil
}

// nextPercent decodes one character of a URL, such as %2F or %C3%A9.
func nextPercent(s string) (r rune, n int) {
	var text [utf8.UTFMax]byte
	for i := range text {
		v, ok := percentByte(s[3*i:])
		if !ok {
			break
		}
		text[i] = v
		if utf8.FullRune(text[:i+1]) {
			r, size := utf8.DecodeRune(text[:i+1])
			if r == utf8.RuneError && size <= 1 {
				break
			}
			return r, 3 * (i + 1)
		}
	}
	return 0, 0
}

func percentByte(s string) (byte, bool) {
	if s == "" || s[0] != '%' {
		return 0, false
	}
	v, ok := hex(s, 1, 2)
	return byte(v), ok
}

// Decode returns s with its escapes decoded once; ok is false if it has none.
func (e Encoding) Decode(s string) (decoded string, ok bool) {
	var out []byte
	done := 0
	for at := 0; at < len(s); {
		i := strings.IndexByte(s[at:], e.mark)
		if i < 0 {
			break
		}
		at += i
		r, n := e.next(s[at:])
		if n == 0 {
			at++
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(s))
		}
		out = utf8.AppendRune(append(out, s[done:at]...), r)
		at += n
		done = at
	}
	if out == nil {
		return "", false
	}
	return string(append(out, s[done:]...)), true
}

// Cursor either maps offsets in a decoded text to its source, or finds the escapes around offsets in the
// source. The offsets must be ascending; all of them together cost one pass.
type Cursor struct {
	encoding Encoding
	source   string
	from, to int // the same place in the source and in the decoded text
}

// Cursor returns a cursor at the start of source.
func (e Encoding) Cursor(source string) *Cursor { return &Cursor{encoding: e, source: source} }

// Begin returns where the character at a decoded offset begins in the source.
func (c *Cursor) Begin(decoded int) int {
	if c.seek(decoded) > 0 {
		return c.from
	}
	return c.from + decoded - c.to
}

// End returns where the character before a decoded offset ends in the source.
func (c *Cursor) End(decoded int) int {
	if n := c.seek(decoded); n > 0 && decoded > c.to {
		return c.from + n
	}
	return c.from + decoded - c.to
}

// Around returns the beginning and the end of the escape around an offset in the source. Without an
// escape both are the offset.
func (c *Cursor) Around(source int) (from, to int) {
	for c.from < source {
		length, size := c.measure()
		if c.from+length > source {
			if size > 0 {
				return c.from, c.from + length
			}
			break
		}
		c.from += length
	}
	return source, source
}

// seek moves to the escape at the decoded offset and returns its length in the source, or moves to the
// plain text around the offset and returns 0.
func (c *Cursor) seek(decoded int) int {
	for c.from < len(c.source) {
		length, size := c.measure()
		if size == 0 {
			if decoded < c.to+length {
				return 0
			}
			size = length
		} else if decoded < c.to+size {
			return length
		}
		c.from, c.to = c.from+length, c.to+size
	}
	return 0
}

// measure returns the lengths of the escape at the current place, in the source and decoded; or the length
// of the plain text up to the next mark, with a size of 0.
func (c *Cursor) measure() (length, size int) {
	rest := c.source[c.from:]
	if rest[0] == c.encoding.mark {
		if r, n := c.encoding.next(rest); n > 0 {
			return n, utf8.RuneLen(r)
		}
	}
	if i := strings.IndexByte(rest[1:], c.encoding.mark); i >= 0 {
		return i + 1, 0
	}
	return len(rest), 0
}
