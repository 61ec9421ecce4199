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

// asciiWord reads a word of one to fifteen letters and digits of ASCII at s[i:]
// that nothing can go on: most words are such. It returns the word's sum, which of
// its first bytes are letters and capitals, and its length, 0 for other words.
func asciiWord(s string, i int) (sum, letter, capital uint64, n int) {
	if i+16 > len(s) {
		return 0, 0, 0, 0
	}
	x := load(s, i)
	n = bits.TrailingZeros64(^wordBytes(x)&highs) >> 3
	keep := ^uint64(0) >> (8 * uint(8-n))
	sum = (x | 0x20*ones) & keep
	letter = letters(x) & keep
	capital = letter &^ (x << 2)
	next := byte(x >> (8 * uint(n&7)))
	if n == 8 {
		y := load(s, i+8)
		more := bits.TrailingZeros64(^wordBytes(y)&highs) >> 3
		rest := uint64(1)<<(8*uint(more)) - 1
		next = byte(y >> (8 * uint(more&7)))
		if more == 8 || letters(y)&^(y<<2)&rest != 0 {
			return 0, 0, 0, 0
		}
		if more > 0 {
			sum = mix(sum, (y|0x20*ones)&rest)
			n += more
		}
	}
	if (next >= utf8.RuneSelf || next == '*') && !endsWord(s, i+n) || n > 8 && letter == 0 {
		return 0, 0, 0, 0
	}
	return sum, letter, capital, n
}

// number returns the number of an ASCII word in the vocabulary.
func (f *folder) number(sum uint64, word string) int32 {
	if len(word) > 8 {
		return f.words.find(sum, word)
	}
	return findShort(f.words.slots, f.words.shift, sum)
}

// scanWord reads the word that begins at s[i:], a letter or digit or a character
// beyond ASCII that is one.
func (f *folder) scanWord(s string, i int) scanned {
	sum, letter, capital, n := asciiWord(s, i)
	if n == 0 {
		return f.accentedWord(s, i)
	}
	w := scanned{end: i + n, id: f.number(sum, s[i:i+n])}
	if letter == 0 {
		w.flags = Digits
	}
	if capital != 0 {
		w.flags = capitals(letter, capital)
		if n > 8 {
			w.flags &^= Upper
		}
		w.fold = f.lower(s[i:w.end], w.id)
	}
	return w
}

// accentedWord is scanWord for words of any length with the letters of French,
// small ones but the first, and slowWord for the others.
func (f *folder) accentedWord(s string, i int) scanned {
	sum, end, n := latinWord(s, i)
	if end == 0 {
		return f.slowWord(s, i)
	}
	w := scanned{end: end}
	if n <= 8 {
		w.id = findShort(f.words.slots, f.words.shift, sum)
	}
	if w.id > 0 {
		w.fold = f.words.words[w.id]
	} else {
		w.fold = f.spell(s[i:end])
		if n > 8 {
			w.id = f.words.find(sum, w.fold)
		}
	}
	if c := s[i]; c >= 'A' && c <= 'Z' || c == 0xC3 && s[i+1] < 0xA0 {
		w.flags = Capital
	}
	return w
}

// latinWord reads a word of small letters, the first of which may be a capital,
// of ASCII and of Latin-1 where one letter is the base of each. It returns the sum
// and the length of the folded word and where it ends, 0 for other words.
func latinWord(s string, i int) (sum uint64, end, n int) {
	var part, all uint64
	at := i
	for ; at < len(s); at++ {
		b := smallByte[s[at]]
		switch {
		case b != 0:
		case s[at] == 0xC3 && at+1 < len(s) && s[at+1]>>6 == 2 && (s[at+1] >= 0xA0 || at == i):
			at++
			if b = frequent[s[at]&0x3F]; b == 0 {
				return 0, 0, 0
			}
		case at == i && wordByte(s[at]):
			b = s[at] | 0x20
		case !endsWord(s, at):
			return 0, 0, 0
		}
		if b == 0 {
			break
		}
		if n > 0 && n&7 == 0 {
			sum, part = join(sum, part, n), 0
		}
		part |= uint64(b) << (8 * uint(n&7))
		all |= uint64(b)
		n++
	}
	if all&0x40 == 0 { // digits at most
		return 0, 0, 0
	}
	return join(sum, part, n), at, n
}

// join adds to the sum of a word the part that ends with its byte n.
func join(sum, part uint64, n int) uint64 {
	if n <= 8 {
		return part
	}
	return mix(sum, part)
}

// endsWord reports whether s[at], which is not part of a plain word, certainly ends it: ASCII or
// one of the dashes, quotation marks and dots of U+2010 to U+2029.
func endsWord(s string, at int) bool {
	c := s[at]
	if c < utf8.RuneSelf {
		return c != '*' && !wordByte(c)
	}
	return c == 0xE2 && at+2 < len(s) && s[at+1] == 0x80 && s[at+2] >= 0x90 && s[at+2] < 0xAA && s[at+2] != 0x9A
}

// smallByte maps the bytes of small letters and digits to themselves.
var smallByte = func() (table [256]byte) {
	for c := range table {
		if wordByte(byte(c)) && (c < 'A' || c > 'Z') {
			table[c] = byte(c)
		}
	}
	return table
}()

// spell folds a word that latinWord read into the buffer.
func (f *folder) spell(word string) string {
	start := len(f.buffer)
	for i := 0; i < len(word); i++ {
		c := word[i]
		if c == 0xC3 {
			i++
			c = frequent[word[i]&0x3F]
		}
		f.buffer = append(f.buffer, c|0x20)
	}
	return f.since(start)
}

// capitals gives the flags of a short word with capitals.
func capitals(letter, capital uint64) Flags {
	flags := Capital & -Flags(capital>>7&1)
	small := letter &^ capital
	switch {
	case small<<8&capital != 0:
		return flags | camel
	case small == 0 && bits.OnesCount64(capital) > 1:
		return flags | Upper
	}
	return flags
}

// goesOn reports whether the word that stood up to at goes on behind it: with a
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
func (f *folder) reset() {
	f.buffer = f.buffer[:0]
	if f.words == nil || len(f.words.slots) == 0 {
		f.words = noWords
	}
}

// since returns the text appended to the buffer after start.
func (f *folder) since(start int) string {
	if start == len(f.buffer) {
		return ""
	}
	return unsafe.String(&f.buffer[start], len(f.buffer)-start)
}

// lower returns an ASCII word in lower case: the vocabulary's own string if it has one.
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

// slowWord reads a word with any letters, combining accents, characters of zero
// width and emphasis within.
func (f *folder) slowWord(s string, i int) scanned {
	start := len(f.buffer)
	w := scanned{end: i}
	var seen shapes
	for at := i; at < len(s); {
		if s[at] == '*' && seen.count > 0 && f.goesOn(s, i, at) {
			at++
			continue
		}
		r, n, kind := rune(s[at]), 1, point
		switch {
		case s[at] >= utf8.RuneSelf:
			r, n = decode(s, at)
			kind = sortOf(r)
		case wordByte(s[at]):
			kind = letter
		}
		if kind > invisible || kind != letter && seen.count == 0 {
			break
		}
		at += n
		switch kind {
		case letter:
			f.buffer = appendFold(f.buffer, r)
			seen.add(r)
			w.end = at
		case accent:
			f.buffer = appendAccent(f.buffer, r)
			w.end = at
		default:
		}
	}
	w.flags = seen.flags()
	w.fold = f.since(start)
	w.id = f.words.find(sumOf(w.fold), w.fold)
	return w
}

// shapes counts the shapes of a word's letters.
type shapes struct {
	count, upper, lower, digits int
	capital, camel              bool
}

func (c *shapes) add(r rune) {
	c.count++
	switch {
	case r >= '0' && r <= '9':
		c.digits++
	case unicode.IsUpper(r):
		c.upper++
		c.capital = c.capital || c.count == 1
		c.camel = c.camel || c.lower > 0 && r < utf8.RuneSelf
	case unicode.IsLower(r):
		c.lower++
	}
}

func (c *shapes) flags() (flags Flags) {
	if c.capital {
		flags |= Capital
	}
	if c.camel {
		flags |= camel
	}
	if c.digits == c.count {
		flags |= Digits
	}
	if c.upper == c.count-c.digits && c.upper >= 2 {
		flags |= Upper
	}
	return flags
}

// appendAccent drops the combining accents of Latin letters and keeps the marks
// that other scripts write vowels with.
func appendAccent(dst []byte, r rune) []byte {
	if r >= 0x300 && r <= 0x36F {
		return dst
	}
	return utf8.AppendRune(dst, r)
}
