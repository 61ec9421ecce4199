package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// inline is the state of the pass over the text of one block.
type inline struct {
	s     string // all text in CommonMark
	end   int    // of the block's text
	gap   Flags
	first int // the first word of the sentence that is being read
	start int // where that word begins
	line  int // where the line that is being read begins
	token int // what is before this offset was tried as an identifier
	list  int // the number that an inline list goes on with, 0 if there is none
	stop  int // where the last word ends
	// noCode are the lengths of runs of backticks that no later run equals.
	noCode [maxTicks + 1]bool
}

// inline reads the text from start to end as sentences of the last block.
func (r *Reader) inline(start, end int) {
	in := &r.in
	*in = inline{s: in.s, end: end, first: len(r.doc.Words), line: start, token: start}
	for i := start; i < end; {
		if at := in.code(i); at > 0 {
			i = r.mask(i, at)
			continue
		}
		switch c := in.s[i]; {
		case wordByte(c):
			i = r.word(i)
		case c == ' ' || c == '\t':
			i++
		case c == '\n':
			i = r.lineBreak(i)
		case c >= utf8.RuneSelf:
			i = r.beyondASCII(i)
		default:
			i = r.special(c, i)
		}
	}
	r.endSentence(end, None)
}

// special reads at s[i:] one of the characters that Markdown or sentences use.
func (r *Reader) special(c byte, i int) int {
	rest := r.in.s[i:r.in.end]
	switch c {
	case '"', '\'':
		return r.quotation(i, 1)
	case '*', '_':
		return i + 1
	case '!', '.', '?':
		if image := imageForm().FindString(rest); image != "" {
			return r.mask(i, i+len(image))
		}
		return r.ender(i)
	case ':':
		return r.colon(i)
	case '`':
		return r.codeSpan(i)
	case '<':
		if n := tagLen(rest); n > 0 {
			return i + n
		}
	case ']':
		if target := targetForm().FindString(rest); target != "" {
			return i + len(target)
		}
	case '~':
		if struck := struckForm().FindString(rest); struck != "" {
			return r.mask(i, i+len(struck)) // its author took it back
		}
	case '-':
		n := len(rest) - len(strings.TrimLeft(rest, "-"))
		if n == 1 && !r.in.begins(i) {
			return i + 1
		}
		i += n - 1
	case '\\': // takes its meaning from the sign behind it
		if len(rest) > 1 && rest[1] > ' ' && rest[1] < utf8.RuneSelf && !wordByte(rest[1]) {
			return i + 2
		}
		return i + 1
	}
	return r.gap(i + 1)
}

// gap notes that a comma, a dash or the like is before the next word, and returns i.
func (r *Reader) gap(i int) int {
	r.in.gap = r.in.gap&^AfterLine | AfterGap
	return i
}

// beyondASCII reads a character beyond ASCII.
func (r *Reader) beyondASCII(i int) int {
	c, n := utf8.DecodeRuneInString(r.in.s[i:r.in.end])
	switch {
	case isWord(c):
		return r.word(i)
	case isSign(c):
		return i + n
	case strings.ContainsRune("‘“„‟‹«", c):
		return r.quotation(i, n)
	}
	return r.gap(i + n)
}

// spaceAt reports whether white space is at the offset.
func (in *inline) spaceAt(i int) bool {
	return i < in.end && (in.s[i] == ' ' || in.s[i] == '\n' || in.s[i] == '\t')
}

// letterAt reports whether a letter or a digit is at the offset.
func (in *inline) letterAt(i int) bool {
	if i >= in.end {
		return false
	}
	c, _ := utf8.DecodeRuneInString(in.s[i:in.end])
	return isWord(c)
}

// word reads a word at s[i:].
func (r *Reader) word(i int) int {
	in := &r.in
	end := in.wordEnd(i)
	word := strings.ReplaceAll(in.s[i:end], "*", "")
	flags := shape(word)
	if flags&Digits != 0 {
		r.listNumber(i, end)
	}
	fold := strings.ToLower(word)
	r.addWord(Word{Span: r.md.span(i, end), Fold: fold, Flags: flags, ID: r.words.ID(fold)}, i, end)
	if end < in.end && (in.s[end] == '\'' || in.s[end] == '-') && in.letterAt(end+1) {
		in.gap |= Linked
		end++
	} else if end < in.end && in.s[end] == '\'' {
		end++
	}
	return end
}

// wordEnd returns where the word at s[i:] ends. Emphasis may be within a word.
func (in *inline) wordEnd(i int) int {
	at := i
	for at < in.end {
		c, n := rune(in.s[at]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRuneInString(in.s[at:in.end])
		}
		if c == '*' && at > i && in.s[i] > '9' {
			for n < 3 && at+n < in.end && in.s[at+n] == '*' {
				n++
			}
			if at+n == in.end || in.s[at+n]|0x20 < 'a' || in.s[at+n]|0x20 > 'z' {
				break
			}
		} else if !isWord(c) {
			break
		}
		at += n
	}
	return at
}

// shape returns the flags of how a word is written.
func shape(word string) Flags {
	if first, _ := utf8.DecodeRuneInString(word); unicode.IsUpper(first) {
		return Capital
	}
	if strings.Trim(word, "0123456789") == "" {
		return Digits
	}
	return 0
}

// mask appends one opaque word for s[i:end].
func (r *Reader) mask(i, end int) int {
	r.addWord(Word{Span: r.md.span(i, end), Flags: Opaque}, i, end)
	return end
}

// addWord appends a word with the flags that follow from the text before it. The first word
// of a sentence has no gap before it.
func (r *Reader) addWord(w Word, i, end int) {
	in := &r.in
	w.Flags |= in.gap
	in.gap = 0
	if len(r.doc.Words) == in.first {
		w.Flags &^= AfterGap | AfterLine
		in.start = i
	}
	in.stop = end
	r.doc.Words = append(r.doc.Words, w)
}

// begins reports whether the offset is at the start of a text between spaces.
func (in *inline) begins(i int) bool {
	return i == in.line || in.spaceAt(i-1) || in.s[i-1] == '('
}

// codeForm is the form of a path, a file name, a version, an option, an address or a name of a
// program, as opposed to "and/or", "e.g." or "done.Next".
var codeForm = lazyregexp.New(`[_\\=]|::|.@|/.*/.*/|./$|\.\d|` + // foo_bar, a::b, a/b/c/d, v1.2
	`[A-Za-z_-][\w/-]*[\w-]\.[a-z]\w|\b[A-Za-z]\.[a-z]\w\w|[A-Z]\.[A-Z]\w{0,3}\b|` + // main.go, a.json, MAIN.GO
	`^[a-z][a-z0-9]*[A-Z]|^--[a-z]|^[/@]\w|^~/|^\$[A-Za-z]|^\.(\.?/|[A-Za-z]\w)`) // fooBar, --force, /etc, @name, ~/x, $HOME, .env

// code returns where the code ends that begins at s[i:] without marks, 0 if none does.
func (in *inline) code(i int) int {
	if i < in.token || !wordByte(in.s[i]) && (strings.IndexByte("/@~$.-", in.s[i]) < 0 || !in.begins(i)) {
		return 0
	}
	n := strings.IndexFunc(in.s[i:in.end], func(c rune) bool {
		return !isWord(c) && !strings.ContainsRune(`._/\-:@#~+=%&$`, c)
	})
	if n < 0 {
		n = in.end - i
	}
	in.token = i + n
	run := in.s[i:in.token]
	if at := strings.Index(run, "://"); at > 0 {
		return in.addressEnd(i + at + 3)
	}
	run = strings.TrimRight(run, ".:-@#~+=%&$_")
	switch end := i + len(run); {
	case run != "" && strings.HasPrefix(in.s[end:in.end], "()"):
		return end + 2
	case wordByte(in.s[i]) && smallLetters(run[1:]): // most words
		return 0
	case codeForm().MatchString(run):
		return end
	}
	return 0
}

// addressEnd returns where the address ends that goes on at s[i:].
func (in *inline) addressEnd(i int) int {
	open := 0
	n := strings.IndexFunc(in.s[i:in.end], func(c rune) bool {
		switch c {
		case '(':
			open++
		case ')':
			open--
		}
		return open < 0 || c <= ' ' || strings.ContainsRune("<>\"`|]", c) || c >= utf8.RuneSelf && !isWord(c)
	})
	if n < 0 {
		n = in.end - i
	}
	return i + len(strings.TrimRight(in.s[i:i+n], ".,:;!?*_'"))
}

// Fold returns the folded form of a text as words carry it, words separated by one
// space and punctuation dropped.
func Fold(s string) string {
	if smallLetters(s) {
		return s
	}
	var clean source
	clean.clean(s, Span{0, len(s)})
	words := strings.FieldsFunc(strings.ReplaceAll(string(clean.text), "*", ""), func(c rune) bool { return !isWord(c) })
	return strings.ToLower(strings.Join(words, " "))
}

// smallLetters reports whether s has small letters of ASCII only.
func smallLetters(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}
