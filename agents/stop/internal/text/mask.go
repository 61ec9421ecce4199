package text

import (
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// maxQuotation is the longest quotation in bytes. What is longer is taken for
// text with a stray mark.
const maxQuotation = 300

// maxTicks is the longest run of backticks that opens a code span.
const maxTicks = 8

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

// quoteForm is a quotation; its first group must not be followed by a letter, as the closing mark
// could be an apostrophe.
var quoteForm = lazyregexp.New(`^(?:("[^"]+"|'\w[^'\n]*(?:'\w[^'\n]*)*[^\s']'|‘(?:[^']|'\w)+')(?:\W|$)|` +
	`[“„‟][^“”]+[“”]|[«‹][^»›]+[»›])`)

// quotation masks the quotation that the mark of n bytes at s[i:] opens. A quotation
// that ends with a full stop may end the sentence too.
func (r *Reader) quotation(i, n int) int {
	in := &r.in
	m := quoteForm().FindStringSubmatch(in.s[i:min(in.end, i+maxQuotation)])
	single := in.s[i] == '\''
	switch {
	case single && (m == nil || len(m[1]) > maxQuotation/3 || !in.begins(i)):
		return i + 1
	case m == nil, in.s[i] == '"' && in.stop == i && i > in.line:
		return r.gap(i + n)
	}
	quoted := m[1]
	if quoted == "" {
		quoted = m[0]
	}
	end := r.mask(i, i+len(quoted))
	inside := strings.TrimRight(quoted, "\"'”“»› ")
	if mark := inside[max(0, len(inside)-1):]; mark == "." || mark == "!" || mark == "?" {
		if next := skipSpace(in.s[:in.end], end); next > end && startsSentence(in.s[next:in.end]) {
			r.endSentence(end, endingOf(mark))
		}
	}
	return end
}

// The forms of the marks of Markdown and HTML that are not read as text.
var (
	tagForm    = lazyregexp.New(`^<(?:/?[A-Za-z][^<>\n]*|!--[^<>]*--)>`)
	imageForm  = lazyregexp.New(`^!\[[^][]*\](?:\([^()]*(?:\([^()]*\)[^()]*)*\))?`)
	targetForm = lazyregexp.New(`^\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^][]*\])`)
	struckForm = lazyregexp.New(`^~~[^~]+~~`)
)

// tagLen returns the length of the tag that s begins with, 0 if it does not: an address in
// angle brackets is not a tag.
func tagLen(s string) int {
	tag := tagForm().FindString(s)
	if strings.Contains(tag, "://") || strings.Contains(tag, "@") && !strings.Contains(tag, "=") {
		return 0
	}
	return len(tag)
}
