package text

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// scanned is a word as it was found at some offset.
type scanned struct {
	end   int // of the word, in the message
	id    int32
	flags Flags
	// camel is true where a capital follows a small letter.
	camel bool
	// fold is set by the slow path; else the bytes of the message, in lower case,
	// are the folded word.
	fold string
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// letters marks with its highest bit each byte of x that is an ASCII letter, and
// wordBytes each that is a letter or a digit. Eight bytes are compared at once
// by adding what carries a byte of the range into its highest bit.
func letters(x uint64) uint64 {
	l := x&^highs | 0x20*ones
	return (l + (0x80-'a')*ones) &^ (l + (0x7F-'z')*ones) &^ x & highs
}

func wordBytes(x uint64) uint64 {
	d := x &^ highs
	return letters(x) | (d+(0x80-'0')*ones)&^(d+(0x7F-'9')*ones)&^x&highs
}

// scanWord reads the word that begins at s[i:], a letter or digit or a character
// beyond ASCII that is one.
func (f *folder) scanWord(s string, i int) scanned {
	w := scanned{end: i}
	var sum, lower, capital, carry uint64
	for {
		x := load(s, w.end)
		m := wordBytes(x)
		n := bits.TrailingZeros64(^m&highs) / 8 // 8 if all are
		keep := uint64(1)<<(8*n) - 1
		if n == 8 {
			keep = ^uint64(0)
		}
		if n > 0 {
			part := (x | 0x20*ones) & keep
			if w.end > i {
				part = mix(sum, part)
			}
			sum = part
		}
		ls := letters(x) & keep
		small := ls & (x << 2)
		if w.end == i && ls&^small&0x80 != 0 {
			w.flags |= Capital
		}
		w.camel = w.camel || (small<<8|carry)&(ls&^small) != 0
		carry = small >> 56
		lower |= small
		capital |= ls &^ small
		w.end += n
		if n < 8 {
			break
		}
	}
	if w.end < len(s) && (s[w.end] >= utf8.RuneSelf || s[w.end] == '*') && f.goesOn(s, i, w.end) {
		return f.slowWord(s, i)
	}
	switch {
	case lower|capital == 0:
		w.flags |= Digits
	case lower == 0 && capital&^0x80 != 0:
		w.flags |= Upper
	}
	w.id = f.words.find(sum, s[i:w.end])
	if capital != 0 {
		w.fold = f.lower(s[i:w.end], w.id)
	}
	return w
}

// goesOn says whether the word that stood up to at goes on behind it: with a
// letter beyond ASCII, a combining accent, or emphasis within the word.
func (f *folder) goesOn(s string, start, at int) bool {
	if s[at] == '*' {
		for at < len(s) && s[at] == '*' {
			at++
		}
		return at < len(s) && at-start < 64 && s[at]|0x20 >= 'a' && s[at]|0x20 <= 'z' && s[start] > '9'
	}
	r, _ := decode(s, at)
	kind := sortOf(r)
	return kind <= invisible
}

// folder folds words and finds their numbers. The folded bytes of one message
// stand in one buffer, which strings point into: they are valid until reset.
type folder struct {
	words  *Vocabulary
	buffer []byte
}

// reset forgets all strings that were given out.
func (f *folder) reset() { f.buffer = f.buffer[:0] }

// since is the text appended to the buffer after start.
func (f *folder) since(start int) string {
	if start == len(f.buffer) {
		return ""
	}
	return unsafe.String(&f.buffer[start], len(f.buffer)-start)
}

// lower is an ASCII word in lower case: the vocabulary's own string if it has one.
func (f *folder) lower(word string, id int32) string {
	if id > 0 {
		return f.words.words[id]
	}
	start := len(f.buffer)
	for i := range len(word) {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		f.buffer = append(f.buffer, c)
	}
	return f.since(start)
}

// slowWord reads a word with characters beyond ASCII or emphasis within.
func (f *folder) slowWord(s string, i int) scanned {
	start := len(f.buffer)
	w := scanned{end: i}
	var count, uppers, lowers, digits int
	for at := i; at < len(s); {
		c := s[at]
		if c < utf8.RuneSelf && wordByte(c) {
			f.buffer = append(f.buffer, c|0x20)
			at++
			w.end = at
			count++
			switch {
			case c <= '9':
				digits++
			case c >= 'a':
				lowers++
			default:
				uppers++
				w.camel = w.camel || lowers > 0
				if count == 1 {
					w.flags |= Capital
				}
			}
			continue
		}
		if c == '*' && count > 0 && f.goesOn(s, i, at) {
			at++
			continue
		}
		if c < utf8.RuneSelf {
			break
		}
		r, n := decode(s, at)
		kind := sortOf(r)
		if kind > invisible || kind != letter && count == 0 {
			break
		}
		at += n
		if kind != letter {
			if kind == accent {
				w.end = at
				f.buffer = appendAccent(f.buffer, r)
			}
			continue
		}
		f.buffer = appendFold(f.buffer, r)
		w.end = at
		count++
		switch {
		case unicode.IsUpper(r):
			uppers++
			if count == 1 {
				w.flags |= Capital
			}
		case unicode.IsLower(r):
			lowers++
		}
	}
	if digits == count {
		w.flags |= Digits
	}
	if uppers == count-digits && uppers >= 2 {
		w.flags |= Upper
	}
	w.fold = f.since(start)
	w.id = f.words.find(sumOf(w.fold), w.fold)
	return w
}

// appendAccent drops the combining accents of Latin letters and keeps the marks
// that other scripts write vowels with.
func appendAccent(dst []byte, r rune) []byte {
	if r >= 0x300 && r <= 0x36F {
		return dst
	}
	return utf8.AppendRune(dst, r)
}
