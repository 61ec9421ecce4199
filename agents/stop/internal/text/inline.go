package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
	in := &r.in
	switch c {
	case '\'':
		return r.singleQuote(i)
	case '-':
		return r.hyphen(i)
	case '*', '_':
		return i + 1
	case '!', '.', '?':
		if strings.HasPrefix(in.s[i:in.end], "![") {
			return r.image(i)
		}
		return r.ender(i)
	case ':':
		return r.colon(i)
	case '`':
		return r.codeSpan(i)
	case '"':
		return r.quotation(i, 1)
	case '<':
		return r.tag(i)
	case ']':
		return r.linkTarget(i)
	case '\\': // takes its meaning from the sign behind it
		if i+1 < in.end && strings.IndexByte("'-*_.!?:`\"<]&\\/~@$", in.s[i+1]) >= 0 {
			return i + 2
		}
		return i + 1
	case '/', '~', '@', '$':
		return r.sigil(c, i)
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

// word reads a word at s[i:], or the identifier that begins with it.
func (r *Reader) word(i int) int {
	in := &r.in
	end := in.wordEnd(i)
	if end+1 < in.end && i >= in.token && strings.IndexByte(`._/\@:=(`, in.s[end]) >= 0 && !in.spaceAt(end+1) {
		if at := in.identifier(i, end); at > 0 {
			return r.mask(i, at)
		}
	}
	word := strings.ReplaceAll(in.s[i:end], "*", "")
	flags, camel := shape(word)
	if camel {
		return r.mask(i, end)
	}
	if flags&Digits != 0 {
		r.listNumber(i, end)
	}
	fold := strings.ToLower(word)
	r.addWord(Word{Span: r.md.span(i, end), Fold: fold, Flags: flags, ID: r.words.ID(fold)}, i, end)
	if end < in.end && (in.s[end] == '\'' || in.s[end] == '-') {
		if in.letterAt(end + 1) {
			in.gap |= Linked
			return end + 1
		}
		if in.s[end] == '-' {
			return r.hyphen(end)
		}
		return end + 1
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

// shape returns the flags of how a word is written; camel is true if it begins with a small
// letter and a capital follows one.
func shape(word string) (flags Flags, camel bool) {
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case unicode.IsUpper(first):
		return Capital, false
	case strings.Trim(word, "0123456789") == "":
		return Digits, false
	}
	small := strings.IndexFunc(word, unicode.IsLower)
	return 0, small >= 0 && strings.ContainsFunc(word[small:], func(c rune) bool { return c >= 'A' && c <= 'Z' })
}

// mask appends one opaque word for s[i:end].
func (r *Reader) mask(i, end int) int {
	r.addWord(Word{Span: r.md.span(i, end), Flags: Opaque}, i, end)
	return end
}

// addWord appends a word with the flags that what is before it gives it. The first word
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

// hyphen reads a hyphen that does not link words: a dash, or the sign of an option.
func (r *Reader) hyphen(i int) int {
	in := &r.in
	at := i + len(in.s[i:in.end]) - len(strings.TrimLeft(in.s[i:in.end], "-"))
	spaced := i == 0 || in.spaceAt(i-1) || in.s[i-1] == '('
	if at-i == 2 && spaced && at < in.end && in.s[at] >= 'a' && in.s[at] <= 'z' {
		return r.mask(i, in.tokenEnd(at))
	}
	if at-i > 1 || spaced {
		r.gap(at)
	}
	return at
}

// tokenEnd returns where the run of characters of an identifier ends that begins at
// s[i:], punctuation at its end aside.
func (in *inline) tokenEnd(i int) int {
	n := strings.IndexFunc(in.s[i:in.end], func(c rune) bool {
		return !isWord(c) && !strings.ContainsRune(`._/\-:@#~+=%&$`, c)
	})
	if n < 0 {
		n = in.end - i
	}
	in.token = max(in.token, i+n)
	return i + len(strings.TrimRight(in.s[i:i+n], ".:-@#~+=%&$_"))
}

// identifier returns where the identifier ends that begins with the word s[i:at],
// 0 if it is text such as "and/or", "e.g." or "done.Next".
func (in *inline) identifier(i, at int) int {
	rest := in.s[at:in.end]
	switch {
	case strings.HasPrefix(rest, "()"):
		return at + 2
	case rest[0] == '(':
		return 0
	case strings.HasPrefix(rest, "://"):
		return in.addressEnd(at + 3)
	}
	end := in.tokenEnd(i)
	switch {
	case end < at: // emphasis is within the word
		return 0
	case end > at && strings.HasPrefix(in.s[end:in.end], "()"):
		return end + 2
	case codeForm.MatchString(in.s[i:end]):
		return end
	}
	return 0
}

// codeForm is what a path, a file name, a version, an address or a name of a program has, as
// opposed to "and/or", "e.g." or "done.Next".
var codeForm = regexp.MustCompile(`[_\\=]|::|.@|/.*/.*/|./$|\.\d|` + // foo_bar, a::b, a/b/c/d, v1.2
	`[A-Za-z_-][\w/-]*[\w-]\.[a-z]\w|\b[A-Za-z]\.[a-z]\w\w|[A-Z]\.[A-Z]\w{0,3}\b`) // main.go, a.json, MAIN.GO

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

// sigil reads a character that begins a path, an option's value or a variable:
// "/etc", "~/x", "$HOME", "@name"; or text that is struck out.
func (r *Reader) sigil(c byte, i int) int {
	in := &r.in
	rest := in.s[i+1 : in.end]
	if c == '~' && strings.HasPrefix(rest, "~") {
		return r.struckOut(i)
	}
	starts := i == in.line || in.spaceAt(i-1) || in.s[i-1] == '('
	if starts && rest != "" && (c == '~' && rest[0] == '/' || c != '~' && wordByte(rest[0]) && (c != '$' || rest[0] > '9')) {
		if end := in.tokenEnd(i); end > i+1 {
			return r.mask(i, end)
		}
	}
	return r.gap(i + 1)
}

// Fold returns the folded form of a text as words carry it, words separated by one
// space and punctuation dropped.
func Fold(s string) string {
	if len(s) > 0 && !slices.ContainsFunc([]byte(s), func(c byte) bool { return c < 'a' || c > 'z' }) {
		return s
	}
	var clean source
	clean.clean(s, Span{0, len(s)})
	words := strings.FieldsFunc(strings.ReplaceAll(string(clean.text), "*", ""), func(c rune) bool { return !isWord(c) })
	return strings.ToLower(strings.Join(words, " "))
}
