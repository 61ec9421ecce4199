package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxBrokenLine is the length in bytes of a line that its author broke on
// purpose: wrapped text is longer.
const maxBrokenLine = 60

// endSentence ends the sentence that is being read at the offset end.
func (r *Reader) endSentence(end int, how Ending) {
	in := &r.in
	if len(r.doc.Words) == in.first {
		return
	}
	if how == None {
		end = in.stop
	}
	r.doc.Sentences = append(r.doc.Sentences, Sentence{
		Span:  r.md.span(in.start, max(end, in.stop)),
		Block: len(r.doc.Blocks) - 1, Column: r.struc.column,
		First: in.first, End: len(r.doc.Words), Ending: how,
	})
	in.first = len(r.doc.Words)
}

func endingOf(mark string) Ending {
	if mark == "?" {
		return Question
	}
	return Stop
}

// ender reads a run of full stops and the like. It ends a sentence before white
// space, or before a capital that was written without it.
func (r *Reader) ender(i int) int {
	in := &r.in
	at := i + len(in.s[i:in.end]) - len(strings.TrimLeft(in.s[i:in.end], ".!?"))
	how := Stop
	switch run := in.s[i:at]; {
	case strings.Contains(run, "?"):
		how = Question
	case strings.Count(run, ".") >= 2:
		how = Ellipsis
	}
	after := in.closers(at)
	if after >= in.end || in.spaceAt(after) {
		next := skipSpace(in.s[:in.end], after)
		if in.s[i:at] == "." && r.abbreviates(i, next) {
			return at
		}
		inside := strings.Contains(in.s[at:after], ")") || how == Ellipsis
		if inside && in.smallLetter(next) {
			return r.gap(after)
		}
		r.endSentence(after, how)
		return after
	}
	if startsSentence(in.s[after:in.end]) && i > in.line && in.s[i-1] > 'Z' {
		r.endSentence(after, how)
		return after
	}
	if n := len(r.doc.Words); n == 0 || len(r.doc.Words[n-1].Fold) != 1 { // not "e.g"
		r.gap(after)
	}
	return after
}

// closers returns the offset behind the closing marks that belong to a sentence which
// ended at s[i:].
func (in *inline) closers(i int) int {
	for i < in.end {
		switch c := in.s[i]; {
		case c == ')' || c == ']' && (i+1 >= in.end || in.s[i+1] != '(') || c == '"' || c == '\'' || c == '*' || c == '_':
			i++
		default:
			mark, n := utf8.DecodeRuneInString(in.s[i:in.end])
			if !strings.ContainsRune("”›»", mark) {
				return i
			}
			i += n
		}
	}
	return i
}

// abbreviates reports whether the full stop at s[i] belongs to an abbreviation, an
// initial or the number of an inline list; what follows begins at next.
func (r *Reader) abbreviates(i, next int) bool {
	in := &r.in
	n := len(r.doc.Words)
	if n == 0 || in.stop != i || next >= in.end {
		return false
	}
	last := r.doc.Words[n-1]
	small, digit := in.smallLetter(next), in.s[next] >= '0' && in.s[next] <= '9'
	if last.Flags&Digits != 0 {
		return in.first == n-1 && len(last.Fold) <= 2
	}
	switch last.Fold {
	case "etc", "incl", "resp", "eg", "ie", "ex", "al":
		return small
	case "approx", "env", "min", "max":
		return small || digit
	case "no":
		return digit
	case "cf", "vs", "dr", "mr", "mrs", "mme", "st", "fig", "art", "ca":
		return true
	}
	if len(last.Fold) == 1 && last.Flags&Linked == 0 { // not the s of "phone's"
		return small || last.Flags&Capital != 0 && last.Fold != "i" && in.first < n-1 || last.Fold == "m"
	}
	return false
}

// smallLetter reports whether a lower-case letter is at s[i:].
func (in *inline) smallLetter(i int) bool {
	c, _ := utf8.DecodeRuneInString(in.s[i:in.end])
	return unicode.IsLower(c)
}

// colon ends a sentence at the end of a line, emoji aside, and before an inline list.
func (r *Reader) colon(i int) int {
	in := &r.in
	at := i + 1
	for at < in.end && (in.s[at] == '*' || in.s[at] == '_') {
		at++
	}
	rest := strings.TrimLeftFunc(in.s[at:in.end], func(c rune) bool { return c == ' ' || c == '\t' || isSign(c) })
	spaced := len(rest) < in.end-at
	if rest == "" || rest[0] == '\n' || strings.HasPrefix(rest, "(1") ||
		spaced && (strings.HasPrefix(rest, "1.") || strings.HasPrefix(rest, "1)")) {
		r.endSentence(i+1, Colon)
	}
	return r.gap(at)
}

// listNumber ends a sentence before "2." of "1. test 2. deploy".
func (r *Reader) listNumber(i, end int) {
	in := &r.in
	if end-i > 2 || end >= in.end || in.s[end] != '.' && in.s[end] != ')' || !in.spaceAt(end+1) {
		return
	}
	number := 0
	for _, c := range in.s[i:end] {
		number = 10*number + int(c-'0')
	}
	switch {
	case number == 1 && in.first == len(r.doc.Words):
		in.list = 2
	case number == in.list && in.list > 0:
		r.endSentence(i, None)
		in.list++
	}
}

// lineBreak reads a line break within a block. It is a space, unless the line was
// broken on purpose: with two spaces or a backslash, before an emoji, or where a
// short line is followed by a capital.
func (r *Reader) lineBreak(i int) int {
	in := &r.in
	before := in.s[in.line:i]
	next := skipSpace(in.s[:in.end], i+1)
	purpose := strings.HasSuffix(before, "  ") || strings.HasSuffix(before, "\\")
	if !purpose && len(before) < maxBrokenLine && !strings.HasSuffix(before, ",") {
		purpose = startsSentence(in.s[next:in.end])
	}
	if purpose {
		r.endSentence(i, None)
	}
	if in.gap&AfterGap == 0 {
		in.gap |= AfterGap | AfterLine
	} else {
		in.gap &^= AfterLine
	}
	in.line = next
	return next
}
