package text

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// scanned is a word as it was found at some offset. It is small enough to be
// returned in registers; one field more costs a third of the speed.
type scanned struct {
	end   int // of the word, in the message
	id    int32
	flags Flags // with camel
	// fold is empty where the bytes of the message are the folded word.
	fold string
}

// camel is the flag, within this package, of a word in which a capital follows a
// small letter.
const camel Flags = 1 << 15

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
// beyond ASCII that is one. Most words are shorter than eight letters of ASCII and
// take no loop.
func (f *folder) scanWord(s string, i int) scanned {
	if i+8 > len(s) {
		return f.longWord(s, i)
	}
	b := s[i : i+8]
	x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
	n := bits.TrailingZeros64(^wordBytes(x)&highs) >> 3
	if n == 8 || n == 0 {
		return f.longWord(s, i)
	}
	if next := byte(x >> (8 * n)); next >= utf8.RuneSelf || next == '*' {
		if f.goesOn(s, i, i+n) {
			return f.slowWord(s, i)
		}
	}
	keep := uint64(1)<<(8*n) - 1
	ls := letters(x) & keep
	w := scanned{end: i + n, id: f.words.find((x|0x20*ones)&keep, s[i:i+n])}
	switch capital := ls &^ (x << 2); {
	case ls == 0:
		w.flags = Digits
	case capital != 0:
		w.flags = capitals(ls, capital, 0)
		if capital&0x80 != 0 {
			w.flags |= Capital
		}
		w.fold = f.lower(s[i:w.end], w.id)
	}
	return w
}

// capitals gives the flags of a word from the bits of its letters and of the
// capitals among them; before is the last letter of the eight bytes before.
func capitals(letters, capital, before uint64) Flags {
	small := letters &^ capital
	switch {
	case (small<<8|before)&capital != 0:
		return camel
	case small == 0 && bits.OnesCount64(capital) > 1:
		return Upper
	}
	return 0
}

// longWord is scanWord for words of any length.
func (f *folder) longWord(s string, i int) scanned {
	w := scanned{end: i}
	var sum, small, capital, before, humps uint64
	for {
		x := load(s, w.end)
		n := bits.TrailingZeros64(^wordBytes(x)&highs) >> 3 // 8 if all are
		keep := ^uint64(0) >> (8 * uint(8-n))
		if n > 0 {
			part := (x | 0x20*ones) & keep
			if w.end > i {
				part = mix(sum, part)
			}
			sum = part
		}
		ls := letters(x) & keep
		caps := ls &^ (x << 2)
		if w.end == i && caps&0x80 != 0 {
			w.flags = Capital
		}
		humps |= ((ls&^caps)<<8 | before) & caps
		before = (ls &^ caps) >> 56
		small |= ls &^ caps
		capital |= caps
		w.end += n
		if n < 8 {
			break
		}
	}
	if w.end < len(s) && (s[w.end] >= utf8.RuneSelf || s[w.end] == '*') && f.goesOn(s, i, w.end) {
		return f.slowWord(s, i)
	}
	switch {
	case small|capital == 0:
		w.flags = Digits
	case humps != 0:
		w.flags |= camel
	case small == 0 && w.end-i > 1 && capital != 0x80:
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

// frequent are the base letters of U+00C0 to U+00FF that need no second look: 0
// for those that stand for several letters or may be the start of mojibake.
var frequent = func() (table [64]byte) {
	for k := range table {
		if r := rune(0xC0 + k); latin[k] != '.' && !suspect(r) {
			table[k] = latin[k]
		}
	}
	return table
}()

// slowWord reads a word with characters beyond ASCII or emphasis within.
func (f *folder) slowWord(s string, i int) scanned {
	start := len(f.buffer)
	w := scanned{end: i}
	var count, uppers, lowers, digits int
	for at := i; at < len(s); {
		c := s[at]
		if c == 0xC3 && at+1 < len(s) && frequent[s[at+1]&0x3F] != 0 && s[at+1] < 0xC0 {
			f.buffer = append(f.buffer, frequent[s[at+1]&0x3F])
			count++
			if s[at+1] >= 0xA0 {
				lowers++
			} else {
				uppers++
				if count == 1 {
					w.flags |= Capital
				}
			}
			at += 2
			w.end = at
			continue
		}
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
				if lowers > 0 {
					w.flags |= camel
				}
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
