package text

import "strings"

// maxQuotation is the longest quotation in bytes. What is longer is taken for
// text with a stray mark.
const maxQuotation = 300

// maxTicks is the longest run of backticks that opens a code span.
const maxTicks = 8

// find returns where one of the characters is in s[from:limit], -1 if there is none.
func (in *inline) find(chars string, from, limit int) int {
	limit = min(limit, in.end)
	if from >= limit {
		return -1
	}
	n := strings.IndexAny(in.s[from:limit], chars)
	if n < 0 {
		return -1
	}
	return from + n
}

// codeSpan masks the text up to the next run of as many backticks.
func (r *Reader) codeSpan(i int) int {
	in := &r.in
	n := in.ticks(i)
	if n > maxTicks || in.noCode[n] {
		return i + n
	}
	for at := i + n; ; {
		next := strings.IndexByte(in.s[at:in.end], '`')
		if next < 0 {
			in.noCode[n] = true
			return i + n
		}
		size := in.ticks(at + next)
		at += next + size
		if size == n {
			return r.mask(i, at)
		}
	}
}

func (in *inline) ticks(i int) int {
	return len(in.s[i:in.end]) - len(strings.TrimLeft(in.s[i:in.end], "`"))
}

// quotation masks the quotation that the mark of n bytes at s[i:] opens.
func (r *Reader) quotation(i, n int) int {
	in := &r.in
	var inside int
	switch in.s[i : i+n] {
	case `"`:
		inside = in.straightQuotation(i)
	case "«", "‹":
		inside = in.find("»›", i+n, i+maxQuotation)
	case "‘":
		for at := i + n; ; at = inside + 1 { // not an apostrophe
			if inside = in.find("'", at, i+maxQuotation); inside < 0 || !in.letterAt(inside+1) {
				break
			}
		}
	default:
		inside = in.find("”“", i+n, i+maxQuotation)
	}
	if inside < 0 {
		return r.gap(i + n)
	}
	end := inside + 1
	for end < in.end && in.s[end]>>6 == 2 {
		end++
	}
	return r.maskQuotation(i, inside, end)
}

// straightQuotation returns where the quotation is closed that the mark at s[i] opens.
func (in *inline) straightQuotation(i int) int {
	if i > in.line && (wordByte(in.s[i-1]) || in.stop == i) {
		return -1
	}
	end := in.find(`"`, i+1, i+maxQuotation)
	if end == i+1 || end >= 0 && end+1 < in.end && wordByte(in.s[end+1]) {
		return -1
	}
	return end
}

// singleQuote reads an apostrophe that follows no letter: it opens a quotation if
// it is closed soon, on the same line, before a character that is not a letter.
func (r *Reader) singleQuote(i int) int {
	in := &r.in
	if i > in.line && !in.spaceAt(i-1) && in.s[i-1] != '(' || !in.letterAt(i+1) {
		return i + 1
	}
	for at := i + 1; ; at++ {
		if at = in.find("'\n", at, i+100); at < 0 || in.s[at] == '\n' {
			return i + 1
		}
		if !in.letterAt(at+1) && !in.spaceAt(at-1) {
			return r.maskQuotation(i, at, at+1)
		}
	}
}

// maskQuotation masks s[i:end], whose closing mark is at inside. A quotation
// that ends with a full stop may end the sentence too.
func (r *Reader) maskQuotation(i, inside, end int) int {
	in := &r.in
	r.mask(i, end)
	if c := in.s[inside-1]; c == '.' || c == '!' || c == '?' {
		if next := skipSpace(in.s[:in.end], end); next > end && startsSentence(in.s[next:in.end]) {
			r.endSentence(end, endingOf(c))
		}
	}
	return end
}

// tag skips a tag or a comment, or masks an address in angle brackets.
func (r *Reader) tag(i int) int {
	in := &r.in
	rest := in.s[i:in.end]
	if strings.HasPrefix(rest, "<!--") {
		if n := strings.Index(rest[:min(len(rest), 10*maxQuotation)], "-->"); n >= 0 {
			return i + n + 3
		}
		return i + 4
	}
	if n := tagLen(rest); n > 0 {
		return i + n
	}
	r.gap(i)
	if strings.HasPrefix(rest, "<http") {
		return r.mask(i, in.addressEnd(i+1))
	}
	return i + 1
}

// linkTarget skips the target of a link behind its text.
func (r *Reader) linkTarget(i int) int {
	in := &r.in
	rest := in.s[i+1 : in.end]
	switch {
	case strings.HasPrefix(rest, "("):
		return max(i+1, in.targetEnd(i+2))
	case strings.HasPrefix(rest, "["):
		return max(i, in.find("]", i+2, i+maxQuotation)) + 1
	case rest != "":
		r.gap(i)
	}
	return i + 1
}

// targetEnd returns the offset behind the target of a link that begins at s[i:], 0 if
// there is none. Targets have one level of parentheses at most.
func (in *inline) targetEnd(i int) int {
	end := in.find(")", i, i+2000)
	if end >= 0 && strings.IndexByte(in.s[i:end], '(') >= 0 && strings.HasPrefix(in.s[end+1:in.end], ")") {
		end++
	}
	return end + 1
}

// image masks an image with its text.
func (r *Reader) image(i int) int {
	in := &r.in
	end := in.find("]", i+2, i+maxQuotation) + 1
	if end == 0 {
		return i + 2
	}
	if strings.HasPrefix(in.s[end:in.end], "(") {
		end = max(end, in.targetEnd(end+1))
	}
	return r.mask(i, end)
}

// struckOut masks "~~text~~": its author took it back.
func (r *Reader) struckOut(i int) int {
	in := &r.in
	at := i + len(in.s[i:in.end]) - len(strings.TrimLeft(in.s[i:in.end], "~"))
	inside := in.s[at:max(at, min(in.end, at+maxQuotation))]
	if n := strings.Index(inside, "~~"); n > 0 && at-i == 2 {
		return r.mask(i, at+n+2)
	}
	return at
}
