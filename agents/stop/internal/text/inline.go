package text

import "strings"

// inline is the state of the pass over the text of one block.
type inline struct {
	end   int // of the text
	gap   Flags
	first int // the first word of the sentence that is being read
	line  int // where the line that is being read begins
	token int // what is before this offset was tried as an identifier
	list  int // the number that an inline list goes on with, 0 if there is none
	// strong is how deep the text is in emphasis, since the word opened.
	strong, opened int
	clear          [marks]int
	noCode         [maxTicks + 1]bool
}

// inline reads the text s[start:end] of the last block.
func (r *Reader) inline(start, end int) {
	in := &r.in
	*in = inline{end: end, first: len(r.doc.Words), line: start, token: start}
	for k := range in.clear {
		in.clear[k] = start
	}
	s := r.doc.Raw
	for i := start; i < end; {
		switch c := s[i]; inlineSort[c] {
		case wordChar:
			i = r.word(i)
		case softChar:
			i++
		case lineChar:
			i = r.lineBreak(i)
		case highChar:
			i = r.beyondASCII(i)
		case gapChar:
			in.gap = in.gap&^AfterLine | AfterGap
			i++
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
	in, s := &r.in, r.doc.Raw
	switch c {
	case '\'':
		return r.singleQuote(i)
	case '-':
		return r.hyphen(i)
	case '*', '_':
		return r.emphasis(c, i)
	case '.', '!', '?':
		if c == '!' && i+1 < in.end && s[i+1] == '[' {
			return r.image(i)
		}
		return r.ender(i)
	case ':':
		return r.colon(i)
	case '`':
		return r.codeSpan(i)
	case '"':
		return r.quotation(i, 1, '"')
	case '<':
		return r.tag(i)
	case ']':
		return r.linkTarget(i)
	case '&':
		return r.entity(i)
	case '\\': // takes its meaning from the sign behind it
		if i+1 < in.end && inlineSort[s[i+1]] == specialChar {
			return i + 2
		}
		return i + 1
	default: // '/', '~', '@', '$'
		return r.sigil(c, i)
	}
}

// word reads a word at s[i:], or the identifier that begins with it.
func (r *Reader) word(i int) int {
	in, s := &r.in, r.doc.Raw
	w := r.fold.scanWord(s, i)
	if w.end < in.end && i >= in.token && glues[s[w.end]] && w.end+1 < in.end && spaceLen(s, w.end+1) == 0 {
		if end := r.identifier(i, w.end); end > 0 {
			return r.mask(i, end)
		}
	}
	if w.flags&(camel|Capital) == camel {
		return r.mask(i, w.end)
	}
	if w.flags&Digits != 0 {
		r.listNumber(i, w.end)
	}
	fold := w.fold
	if fold == "" {
		fold = s[i:w.end]
	}
	r.doc.Words = add(r.doc.Words, Word{Span{i, w.end}, fold, w.flags&^camel | r.before(), w.id}, i, len(s))
	if w.end < in.end && (s[w.end] == '\'' || s[w.end] == '-') {
		return r.link(w.end)
	}
	return w.end
}

// link reads an apostrophe or a hyphen between two words.
func (r *Reader) link(i int) int {
	s := r.doc.Raw
	if next := i + 1; next < r.in.end && (wordByte(s[next]) || s[next] >= 0x80 && spaceLen(s, next) == 0) {
		r.in.gap |= Linked
		return next
	}
	if s[i] == '-' {
		return r.hyphen(i)
	}
	return i + 1
}

// mask appends one opaque word for s[i:end].
func (r *Reader) mask(i, end int) int {
	r.doc.Words = add(r.doc.Words, Word{Span: Span{i, end}, Flags: Opaque | r.before()}, i, len(r.doc.Raw))
	return end
}

// before takes the flags that what is before the next word gives it. The
// first word of a sentence has no gap before it.
func (r *Reader) before() Flags {
	in := &r.in
	flags := in.gap
	in.gap = 0
	if len(r.doc.Words) == in.first {
		flags &^= AfterGap | AfterLine
	}
	if in.strong > 0 {
		flags |= Strong
	}
	return flags
}

// hyphen reads a hyphen that does not link words: a dash, or the sign of an option.
func (r *Reader) hyphen(i int) int {
	in, s := &r.in, r.doc.Raw
	at := i
	for at < in.end && s[at] == '-' {
		at++
	}
	spaced := i == 0 || spaceLen(s, i-1) > 0 || s[i-1] == '('
	if at-i == 2 && spaced && at < in.end && s[at] >= 'a' && s[at] <= 'z' {
		return r.mask(i, r.tokenEnd(at))
	}
	if at-i > 1 || spaced {
		in.gap = in.gap&^AfterLine | AfterGap
	}
	return at
}

// emphasis reads a run of asterisks or underscores.
func (r *Reader) emphasis(c byte, i int) int {
	in, s := &r.in, r.doc.Raw
	at := i
	for at < in.end && s[at] == c {
		at++
	}
	opens := at < in.end && spaceLen(s, at) == 0
	closes := i > in.line && spaceLen(s, i-1) == 0
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

// beyondASCII reads a character beyond ASCII.
func (r *Reader) beyondASCII(i int) int {
	in, s := &r.in, r.doc.Raw
	c, n := decode(s, i)
	switch sortOf(c) {
	case letter:
		return r.word(i)
	case apostrophe:
		if len(r.doc.Words) > in.first && r.doc.Words[len(r.doc.Words)-1].End == i &&
			i+n < in.end && spaceLen(s, i+n) == 0 {
			in.gap |= Linked
		}
	case hyphen:
		in.gap |= Linked
	case opening:
		return r.quotation(i, n, c)
	case sign:
		in.gap |= AfterMark
	case point, closing:
		in.gap = in.gap&^AfterLine | AfterGap
	case ender:
		return r.ender(i)
	default:
	}
	return min(i+n, in.end)
}

// The classes of bytes. A gapChar separates words; a softChar does not end a phrase.
const (
	gapChar uint8 = iota
	wordChar
	softChar
	lineChar
	highChar // beyond ASCII
	specialChar
)

// inlineSort classifies bytes; what stays special is for the method of that name.
var inlineSort = func() (table [256]uint8) {
	for c := range table {
		switch {
		case c >= 0x80:
			table[c] = highChar
		case wordByte(byte(c)):
			table[c] = wordChar
		case c == '\n':
			table[c] = lineChar
		case c <= ' ', c == 0x7F:
			table[c] = softChar
		case strings.IndexByte("'-*_.!?:`\"<]&\\/~@$", byte(c)) >= 0:
			table[c] = specialChar
		}
	}
	return table
}()
