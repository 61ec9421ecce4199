// Package textfold reads a text as words that can be compared and counted: case,
// accents, typography and invisible characters make no difference.
package textfold

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Word is a run of letters and digits. Apostrophes and hyphens end a word: "l'idée" has the words "l" and
// "idee". See Count for words in the usual sense.
type Word struct {
	// Text is the folded word: compatibility forms resolved, no accents, lower
	// case, "œ" as "oe". It is valid until the next word is read.
	Text []byte
	// Start and End delimit the word in the text. Gap is the text after the previous word.
	Start, End int
	Gap        string
}

// Reader reads the words of a text in one pass. It needs no memory beyond the
// longest word.
type Reader struct {
	text string
	at   int
	buf  []byte
}

// NewReader returns a reader of a text, which need not be valid UTF-8.
func NewReader(text string) *Reader { return &Reader{text: text} }

// Next returns the next word; ok is false at the end.
func (r *Reader) Next() (w Word, ok bool) {
	gap := r.at
	r.buf = r.buf[:0]
	for r.at < len(r.text) {
		if c := r.text[r.at]; c < utf8.RuneSelf {
			f := ascii[c]
			if f == 0 || f <= '9' && keycap(r.text[r.at+1:]) {
				if len(r.buf) > 0 {
					break
				}
				r.at++
				continue
			}
			if len(r.buf) == 0 {
				w.Start = r.at
			}
			r.buf = append(r.buf, f)
			r.at++
			continue
		}
		c, size := utf8.DecodeRuneInString(r.text[r.at:])
		if isWord(c) {
			if len(r.buf) == 0 {
				w.Start = r.at
			}
			r.buf = appendFolded(r.buf, c)
		} else if len(r.buf) > 0 && !invisible(c) {
			break
		}
		r.at += size
	}
	if len(r.buf) == 0 {
		return Word{}, false
	}
	w.Text, w.Gap, w.End = r.buf, r.text[gap:w.Start], r.at
	return w, true
}

// Fold returns the folded words of a text.
func Fold(text string) []string {
	var all []string
	r := NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		all = append(all, string(w.Text))
	}
	return all
}

// WordSet returns the set of the words in a list, which are separated by white space and already folded.
func WordSet(list string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		words[word] = true
	}
	return words
}

// Join returns the folded words, separated by spaces. It returns the same for texts that differ only in
// case, accents, punctuation or space.
func Join(text string) string {
	var b bytes.Buffer
	r := NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.Write(w.Text)
	}
	return b.String()
}

// Count returns the number of words of a text in the usual sense: parts joined by an apostrophe or a hyphen
// are one word ("l'idée", "long-terme", "don't"), and so is a number with separators ("3,5"). Separate
// punctuation, emoji and keycaps ("1️⃣") are not words.
func Count(text string) int {
	n := 0
	var digit bool // the previous word ends in a digit
	r := NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		first := w.Text[0] >= '0' && w.Text[0] <= '9'
		if n == 0 || !ties(w.Gap, digit && first) {
			n++
		}
		last := w.Text[len(w.Text)-1]
		digit = last >= '0' && last <= '9'
	}
	return n
}

// ties reports whether a gap joins two words.
func ties(gap string, digits bool) bool {
	switch gap {
	case "'", "’", "ʼ", "＇", "-", "‐", "‑":
		return true
	case ".", ",", ":":
		return digits
	}
	return false
}

// ascii are the folded letters and digits, by character; 0 for all others.
var ascii = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			t[c] = byte(c | 0x20)
		case c >= '0' && c <= '9':
			t[c] = byte(c)
		}
	}
	return t
}()

// isWord reports whether a character beyond ASCII is part of a word.
func isWord(c rune) bool { return (unicode.IsLetter(c) && c != 'ʼ') || unicode.IsDigit(c) }

// invisible reports whether a character within a word is invisible or combines with the previous one:
// combining accents, soft hyphens, joiners.
func invisible(c rune) bool {
	return c >= 0xAD && (unicode.Is(unicode.Mn, c) || unicode.Is(unicode.Cf, c))
}

// keycap reports whether the text after a digit turns it into an emoji.
func keycap(rest string) bool {
	const selector, cap = "\uFE0F", "\u20E3"
	if len(rest) > 0 && rest[0] < utf8.RuneSelf {
		return false
	}
	if len(rest) > len(selector) && rest[:len(selector)] == selector {
		rest = rest[len(selector):]
	}
	return len(rest) >= len(cap) && rest[:len(cap)] == cap
}

// common is the end of the letters with cached folded forms: Latin and its extensions.
const common = 0x250

var table = sync.OnceValue(func() *[common][]byte {
	var t [common][]byte
	for c := range t {
		t[c] = decompose(rune(c))
	}
	return &t
})

func appendFolded(dst []byte, c rune) []byte {
	if c < common {
		return append(dst, table()[c]...)
	}
	return append(dst, decompose(c)...)
}

// decompose returns the letters of c without marks, in lower case.
func decompose(c rune) []byte {
	var out []byte
	for _, d := range norm.NFKD.String(string(unicode.ToLower(c))) {
		if unicode.Is(unicode.Mn, d) {
			continue
		}
		d = unicode.ToLower(d)
		if s, ok := spelled[d]; ok {
			out = append(out, s...)
			continue
		}
		out = utf8.AppendRune(out, d)
	}
	return out
}

// spelled has the usual replacements of letters that Unicode does not decompose, and the Latin equivalents
// of similar Cyrillic and Greek letters, which may be used to deceive.
var spelled = map[rune]string{
	'œ': "oe", 'æ': "ae", 'ß': "ss", 'ø': "o", 'ł': "l", 'đ': "d", 'ı': "i", 'ð': "d", 'þ': "th",
	'а': "a", 'е': "e", 'о': "o", 'р': "p", 'с': "c", 'у': "y", 'х': "x", 'і': "i", 'ѕ': "s", 'ј': "j",
	'ο': "o", 'α': "a", 'ι': "i", 'ν': "v",
}
