package text

import "strings"

// The closing marks that inline.clear remembers: none of the kind is before
// that offset, so that a text of opening marks is searched only once.
const (
	doubleMark = iota
	singleMark
	curlyMark
	curlySingleMark
	guillemetMark
	bracketMark
	parenMark
	commentMark
	strikeMark
	marks
)

// maxQuotation is the longest quotation in bytes. What is longer is taken for
// text with a stray mark.
const maxQuotation = 300

// maxTicks is the longest run of backticks that opens a code span.
const maxTicks = 8

// closer finds the mark in s[from:limit], -1 if it is not there.
func (r *Reader) closer(kind int, mark string, from, limit int) int {
	in := &r.in
	limit = min(limit, in.end)
	begin := max(from, in.clear[kind])
	if begin >= limit {
		return -1
	}
	n := strings.Index(r.doc.Raw[begin:limit], mark)
	if n < 0 {
		in.clear[kind] = max(begin, limit-len(mark)+1)
		return -1
	}
	in.clear[kind] = begin + n
	return begin + n
}

// curlyCloser finds a closing quotation mark beyond ASCII, however encoded, and
// returns where it begins and ends, -1 if there is none in s[from:limit].
func (r *Reader) curlyCloser(kind, from, limit int) (start, end int) {
	in, s := &r.in, r.doc.Raw
	limit = min(limit, in.end)
	at := max(from, in.clear[kind])
	for at < limit {
		if s[at] < 0x80 {
			at++
			continue
		}
		c, n := decode(s, at)
		if closesQuotation(kind, c) {
			in.clear[kind] = at
			return at, min(at+n, in.end)
		}
		at += n
	}
	in.clear[kind] = max(in.clear[kind], min(at, in.end))
	return -1, -1
}

func closesQuotation(kind int, c rune) bool {
	switch kind {
	case guillemetMark:
		return c == '»' || c == '›'
	case curlySingleMark:
		return c == '’'
	}
	return c == '”' || c == '“'
}

// codeSpan masks the text up to the next run of as many backticks.
func (r *Reader) codeSpan(i int) int {
	in, s := &r.in, r.doc.Raw
	n := ticks(s, i, in.end)
	if n > maxTicks || in.noCode[n] {
		return i + n
	}
	for at := i + n; ; {
		next := strings.IndexByte(s[at:in.end], '`')
		if next < 0 {
			in.noCode[n] = true
			return i + n
		}
		at += next
		size := ticks(s, at, in.end)
		at += size
		if size == n {
			return r.mask(i, at)
		}
	}
}

func ticks(s string, i, end int) int {
	n := 0
	for i+n < end && s[i+n] == '`' {
		n++
	}
	return n
}

// quotation masks the quotation that the mark of n bytes at s[i:] opens.
func (r *Reader) quotation(i, n int, mark rune) int {
	in := &r.in
	inside, end := -1, -1
	switch mark {
	case '"':
		end = r.straightQuotation(i)
		inside = end - 1
	case '«', '‹':
		inside, end = r.curlyCloser(guillemetMark, i+n, i+maxQuotation)
	case '“', '„', '‟':
		inside, end = r.curlyCloser(curlyMark, i+n, i+maxQuotation)
	case '‘':
		inside, end = r.curlySingle(i + n)
	}
	if end < 0 {
		in.gap = in.gap&^AfterLine | AfterGap
		return min(i+n, in.end)
	}
	return r.maskQuotation(i, inside, end)
}

// straightQuotation returns where the quotation ends that the mark at s[i] opens.
func (r *Reader) straightQuotation(i int) int {
	in, s := &r.in, r.doc.Raw
	if i > in.line && (wordByte(s[i-1]) || s[i-1] >= 0x80 && spaceLen(s, i-1) == 0 && followsWord(s, in.line, i)) {
		return -1
	}
	end := r.closer(doubleMark, `"`, i+1, i+maxQuotation)
	if end < 0 || end == i+1 || end+1 < in.end && wordByte(s[end+1]) {
		return -1
	}
	return end + 1
}

// followsWord reports whether a letter beyond ASCII ends at s[i:].
func followsWord(s string, start, i int) bool {
	at := i - 1
	for at > start && at > i-4 && s[at]&0xC0 == 0x80 {
		at--
	}
	c, n := decode(s, at)
	return at+n == i && sortOf(c) <= accent
}

// curlySingle returns where the quotation ends that ‘ opens before from: at a mark
// that is not an apostrophe, as no letter follows it.
func (r *Reader) curlySingle(from int) (start, end int) {
	limit := from + maxQuotation
	for at := from; ; {
		start, end = r.curlyCloser(curlySingleMark, at, limit)
		if end < 0 || !r.letterAt(end) {
			return start, end
		}
		at = end
	}
}

func (r *Reader) letterAt(i int) bool {
	s := r.doc.Raw
	if i >= r.in.end || s[i] < 0x80 {
		return i < r.in.end && wordByte(s[i])
	}
	c, _ := decode(s, i)
	return sortOf(c) == letter
}

// singleQuote reads an apostrophe that follows no letter: it opens a quotation if
// it is closed soon, on the same line, before a character that is not a letter.
func (r *Reader) singleQuote(i int) int {
	in, s := &r.in, r.doc.Raw
	if i > in.line && spaceLen(s, i-1) == 0 && s[i-1] != '(' || !r.letterAt(i+1) {
		return i + 1
	}
	limit := min(in.end, i+100)
	if n := strings.IndexByte(s[i:limit], '\n'); n > 0 {
		limit = i + n
	}
	for at := i + 1; ; {
		end := r.closer(singleMark, "'", at, limit)
		if end < 0 {
			return i + 1
		}
		if !r.letterAt(end+1) && spaceLen(s, end-1) == 0 {
			return r.maskQuotation(i, end, end+1)
		}
		at = end + 1
	}
}

// maskQuotation masks s[i:end], whose closing mark is at inside. A quotation
// that ends with a full stop may end the sentence too.
func (r *Reader) maskQuotation(i, inside, end int) int {
	r.mask(i, end)
	s := r.doc.Raw
	if c := s[max(i, inside-1)]; c == '.' || c == '!' || c == '?' {
		if next := skipSpace(s, end, r.in.end); next > end && startsSentence(s, next, r.in.end) {
			r.endSentence(end, endingOf(c))
		}
	}
	return end
}
