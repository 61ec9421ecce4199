package text

import (
	"strings"
	"unicode"
)

// maxBrokenLine is the length in bytes of a line that its author broke on
// purpose: wrapped text is longer.
const maxBrokenLine = 60

// endSentence ends the sentence that is being read at the offset end.
func (r *Reader) endSentence(end int, how Ending) {
	in := &r.in
	words := r.doc.Words
	if len(words) == in.first {
		return
	}
	last := words[len(words)-1].End
	if how == None {
		end = last
	}
	r.doc.Sentences = add(r.doc.Sentences, Sentence{
		Span:  Span{words[in.first].Start, max(end, last)},
		Block: len(r.doc.Blocks) - 1,
		First: in.first, End: len(words), Ending: how,
	}, last, len(r.doc.Raw))
	in.first = len(words)
}

func endingOf(c byte) Ending {
	if c == '?' {
		return Question
	}
	return Stop
}

// ender reads a run of full stops and the like. It ends a sentence before white
// space, or before a capital that was written without it.
func (r *Reader) ender(i int) int {
	in, s := &r.in, r.doc.Raw
	if s[i] == '.' && r.hiddenFile(i) {
		return r.mask(i, r.tokenEnd(i+1))
	}
	at, how := r.run(i)
	after := r.closers(at)
	if after >= in.end || spaceLen(s, after) > 0 {
		if at == i+1 && s[i] == '.' && r.abbreviates(i, after) {
			return at
		}
		next := skipSpace(s, after, in.end)
		inside := after > at && strings.IndexByte(s[at:after], ')') >= 0 || how == Ellipsis
		if inside && next < in.end && r.smallLetter(next) {
			in.gap = in.gap&^AfterLine | AfterGap
			return after
		}
		r.endSentence(after, how)
		return after
	}
	if startsSentence(s, after, in.end) && at > i && i > in.line && s[i-1] > 'Z' {
		r.endSentence(after, how)
		return after
	}
	if n := len(r.doc.Words); n == 0 || len(r.doc.Words[n-1].Fold) != 1 { // not "e.g"
		in.gap = in.gap&^AfterLine | AfterGap
	}
	return after
}

// hiddenFile reports whether the full stop at s[i] begins a name: ".env", "./run".
func (r *Reader) hiddenFile(i int) bool {
	in, s := &r.in, r.doc.Raw
	if i > in.line && spaceLen(s, i-1) == 0 && s[i-1] != '(' || i+2 >= in.end {
		return false
	}
	rest := strings.TrimLeft(s[i:min(i+3, in.end)], ".")
	return rest != "" && (rest[0] == '/' || len(rest) == 2 && rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z')
}

// run reads "?!", "..." and the like.
func (r *Reader) run(i int) (at int, how Ending) {
	in, s := &r.in, r.doc.Raw
	how = Stop
	stops := 0
	for at = i; at < in.end; {
		n := 1
		switch c := s[at]; {
		case c == '?':
			how = Question
		case c == '.':
			stops++
		case c == '!':
		case c >= 0x80:
			var char rune
			char, n = decode(s, at)
			if sortOf(char) != ender {
				n = 0
			}
			if char == '…' {
				stops += 3
			}
			if char == '？' || char == '⁇' || char == '⁈' || char == '⁉' {
				how = Question
			}
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		at = min(at+n, in.end)
	}
	if stops >= 2 && how == Stop {
		how = Ellipsis
	}
	return at, how
}

// closers returns the offset behind the closing marks that belong to a sentence which
// ended at s[i:].
func (r *Reader) closers(i int) int {
	in, s := &r.in, r.doc.Raw
	for i < in.end {
		switch c := s[i]; {
		case c == ')' || c == ']' && (i+1 >= in.end || s[i+1] != '(') || c == '"' || c == '\'':
			i++
		case c == '*' || c == '_':
			i = r.emphasis(c, i)
		case c >= 0x80:
			char, n := decode(s, i)
			if k := sortOf(char); k != closing && k != apostrophe {
				return i
			}
			i = min(i+n, in.end)
		default:
			return i
		}
	}
	return i
}

// abbreviates reports whether the full stop at s[i] belongs to an abbreviation, an
// initial or the number of an inline list; what follows begins after white space
// at after.
func (r *Reader) abbreviates(i, after int) bool {
	in, s := &r.in, r.doc.Raw
	words := r.doc.Words
	if len(words) == 0 || words[len(words)-1].End != i {
		return false
	}
	last := words[len(words)-1]
	next := skipSpace(s, after, in.end)
	if next >= in.end {
		return false
	}
	small := r.smallLetter(next)
	digit := s[next] >= '0' && s[next] <= '9'
	if last.Flags&Digits != 0 {
		return in.first == len(words)-1 && len(last.Fold) <= 2
	}
	switch last.Fold {
	case "etc", "incl", "resp", "eg", "ie", "ex", "al":
		return small
	case "approx", "env", "min", "max":
		return small || digit
	case "no":
		return digit
	case "cf", "vs", "dr", "mr", "mrs", "mme", "st", "fig", "art", "ca":
		return last.Flags&Upper == 0 || small
	}
	if len(last.Fold) == 1 {
		return small || last.Flags&Capital != 0 && last.Fold != "i" && in.first < len(words)-1 || last.Fold == "m"
	}
	return false
}

// smallLetter reports whether a lower-case letter is at s[i:].
func (r *Reader) smallLetter(i int) bool {
	c := r.doc.Raw[i]
	if c < 0x80 {
		return c >= 'a' && c <= 'z'
	}
	char, _ := decode(r.doc.Raw, i)
	return unicode.IsLower(char)
}

// colon ends a sentence at the end of a line and before an inline list.
func (r *Reader) colon(i int) int {
	in, s := &r.in, r.doc.Raw
	at := i + 1
	for at < in.end && (s[at] == '*' || s[at] == '_') {
		at = r.emphasis(s[at], at)
	}
	next := at
	for next < in.end && s[next] != '\n' {
		n := spaceLen(s, next)
		if n == 0 {
			break
		}
		next += n
	}
	number := next > at && next+1 < in.end && (s[next] == '1' && (s[next+1] == '.' || s[next+1] == ')') ||
		s[next] == '(' && s[next+1] == '1')
	if next >= in.end || s[next] == '\n' || number {
		r.endSentence(i+1, Colon)
	}
	in.gap = in.gap&^AfterLine | AfterGap
	return at
}

// listNumber ends a sentence before "2." of "1. test 2. deploy".
func (r *Reader) listNumber(i, end int) {
	in, s := &r.in, r.doc.Raw
	if end-i > 2 || end >= in.end || s[end] != '.' && s[end] != ')' || spaceLen(s, end+1) == 0 {
		return
	}
	number := int(s[i] - '0')
	if end-i == 2 {
		number = 10*number + int(s[i+1]-'0')
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
	in, s := &r.in, r.doc.Raw
	before := s[in.line:i]
	next := skipSpace(s, i+1, in.end)
	purpose := strings.HasSuffix(before, "  ") || strings.HasSuffix(before, "\\")
	if !purpose && len(before) < maxBrokenLine && !strings.HasSuffix(before, ",") {
		purpose = startsSentence(s, next, in.end)
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
