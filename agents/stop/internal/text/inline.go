package text

import (
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
	// strong is how deep the text is in emphasis, since the word opened.
	strong, opened int
	noCode         [maxTicks + 1]bool
	stop           int // where the last word ends
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
	if in.strong > 0 {
		for k := in.opened; k < len(r.doc.Words); k++ {
			r.doc.Words[k].Flags &^= Strong
		}
	}
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
		return r.emphasis(c, i)
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
		r.in.gap |= AfterMark
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
	upper, lower, digits := 0, 0, 0
	for i, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case unicode.IsUpper(c):
			if upper++; i == 0 {
				flags |= Capital
			}
			camel = camel || lower > 0 && c < utf8.RuneSelf
		case unicode.IsLower(c):
			lower++
		}
	}
	switch {
	case digits == len(word):
		flags |= Digits
	case upper+digits == utf8.RuneCountInString(word) && upper >= 2:
		flags |= Upper
	}
	return flags, camel && flags&Capital == 0
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
	if in.strong > 0 {
		w.Flags |= Strong
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

// emphasis reads a run of asterisks or underscores.
func (r *Reader) emphasis(c byte, i int) int {
	in := &r.in
	at := i
	for at < in.end && in.s[at] == c {
		at++
	}
	opens := at < in.end && !in.spaceAt(at)
	closes := i > in.line && !in.spaceAt(i-1)
	switch {
	case in.strong > 0 && closes:
		in.strong--
	case opens:
		if in.strong == 0 {
			in.opened = len(r.doc.Words)
		}
		in.strong++
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
	case looksLikeCode(in.s[i:end]):
		return end
	}
	return 0
}

// looksLikeCode reports whether a run of characters without space is a path, a file
// name, a version, an address or a name of a program.
func looksLikeCode(name string) bool {
	slashes := strings.Count(name, "/")
	return strings.ContainsAny(name, `_\=`) || strings.Contains(name, "::") || strings.IndexByte(name, '@') > 0 ||
		slashes >= 3 || slashes > 0 && strings.HasSuffix(name, "/") || dotted(name)
}

// dotted reports whether a full stop within name joins the parts of a file name, a
// version or an address, rather than ending a sentence or an abbreviation.
func dotted(name string) bool {
	parts := strings.Split(name, ".")
	for k := 1; k < len(parts); k++ {
		before, part := parts[k-1], parts[k]
		if n := strings.IndexFunc(part, func(c rune) bool { return c >= utf8.RuneSelf || !wordByte(byte(c)) }); n >= 0 {
			part = part[:n]
		}
		if part == "" {
			continue
		}
		last := byte(' ')
		if before != "" {
			last = before[len(before)-1]
		}
		switch {
		case part[0] <= '9': // 3.5, v1.2
			return true
		case last >= '0' && last <= '9' && len(before) <= 2: // "2.deploy"
		case len(part) == 1 || k == 1 && len(before) == 1 && len(part) <= 2: // "e.g", "p.ex"
		case part[0] >= 'a': // main.go
			return true
		case len(part) <= 4 && last < 'a' && strings.ToUpper(part) == part: // MAIN.GO
			return true
		}
	}
	return false
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
