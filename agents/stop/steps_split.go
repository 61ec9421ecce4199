package stop

import (
	"strconv"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// acts reports whether a range of words begins with a verb, in any form, perhaps
// behind its subject.
func (x *extractor) acts(first, end int) bool {
	if first+1 < end && x.in(first, subjectWords) {
		if x.in(first, personWords) {
			return true
		}
		first++
	}
	return first < end && isVerb(x.doc.Words[first])
}

// skipIntroduction passes over words such as "now let me" and "il reste à". A
// verb of work ends them.
func (x *extractor) skipIntroduction(i, end int) int {
	begin := i
	for i < end && x.in(i, introWords) {
		i++
	}
	switch {
	case i == begin || i == end:
	case x.doc.Words[i].Fold == "with", x.doc.Words[i].Fold == "avec": // "proceed with"
		i--
	case isVerb(x.doc.Words[i]) && !begins(x.doc.Words[i]) && x.in(i-1, subjectWords): // "je pousse"
		i--
	}
	return i
}

// split adds the pieces of a range of a sentence, each like p. Verbs behind a comma, behind
// "then" or with a subject of their own are steps of their own; with list, so are those joined
// by "and" alone, and behind a colon what semicolons separate: "Still to do: tests; docs."
func (x *extractor) split(first, end int, p piece, list bool) {
	end = min(end, first+maxWords)
	if x.parts(first, end, p) || first >= end {
		return
	}
	listed := false
	for i := first + 1; i < end && list && x.gapHas(first, ":"); i++ {
		listed = listed || x.gapHas(i, ";")
	}
	p.first = first
	for i := first + 1; i < end; i++ {
		if x.gapHas(i, "—–") && begins(x.doc.Words[i]) { // how the work is done
			break
		}
		next, follows := x.boundary(p.first, i, end, list)
		switch {
		case listed && x.gapHas(i, ";"):
			next = i
		case x.turns(i):
			end = i
		}
		if next > 0 && i < end {
			p.end = i
			x.add(p, listed)
			p.first, p.follows = next, follows
			i = next
		}
	}
	p.end = end
	x.add(p, listed)
}

// turns reports whether word i begins an alternative or a question: ", or focus on
// …", "or do you …?".
func (x *extractor) turns(i int) bool {
	return x.in(i, orWords) && (x.gapHas(i, ",") || i+1 < len(x.doc.Words) && x.in(i+1, askingWords))
}

// boundary returns where the next piece begins if the one from start ends before
// word i, 0 if it does not, and whether a word of order is between.
func (x *extractor) boundary(start, i, end int, list bool) (next int, follows bool) {
	words, at := x.doc.Words, i
	comma, joined := x.gapHas(i, ",;"), x.in(i, joiningWords)
	if joined {
		at++
	}
	// In "restore and run the tests" the verbs share their object.
	shares := joined && !comma && i-start == 1 && end-at > 1
	switch {
	case at >= end:
	case x.in(at, connectives):
		next = x.skipIntroduction(at+1, end)
		if next < end && (comma || joined || x.in(at, thenWords) && begins(words[next])) {
			return next, true
		}
	case !comma && !joined:
	case x.in(at, subjectWords):
		if next = x.skipIntroduction(at, end); x.acts(next, end) {
			return next, false
		}
	case (list || comma) && begins(words[at]) && !x.in(i, orWords) && !shares:
		return at, false
	}
	return 0, false
}

// parts adds the parts of an inline list, if a range is one: "1. Test 2. Deploy", "a) … b) …".
func (x *extractor) parts(first, end int, p piece) bool {
	var starts []int
	end = min(end, first+maxWords)
	for i := first; i < end; i++ {
		if x.numbers(i, end, len(starts)+1) {
			i++
			starts = append(starts, i)
		}
	}
	if len(starts) < 2 {
		return false
	}
	for n, start := range starts {
		p.first, p.end, p.number = start, end, n+1
		if n+1 < len(starts) {
			p.end = starts[n+1] - 1
		}
		x.add(p, true)
	}
	return true
}

// numbers reports whether word i is the n-th number or letter of a list; 0 is any
// number.
func (x *extractor) numbers(i, end, n int) bool {
	w := x.doc.Words[i]
	if i+1 >= end || w.End >= len(x.doc.Raw) || w.Flags&text.Linked != 0 {
		return false
	}
	closing := x.doc.Raw[w.End]
	number := w.Fold == strconv.Itoa(n) || n == 0 && w.Flags&text.Digits != 0
	letter := n > 0 && n <= 26 && w.Fold == string(rune('a'+n-1))
	return closing == ')' && (number || letter) || closing == '.' && number
}

// add adds a piece unless it is empty. Only a listed one may say nothing about the work.
func (x *extractor) add(p piece, listed bool) {
	for p.end > p.first && x.in(p.end-1, joiningWords, connectives) {
		p.end--
	}
	if p.first >= p.end {
		return
	}
	if !listed && x.fills(p) {
		p.rank = vague
	}
	x.pieces = append(x.pieces, p)
}

// fills reports whether a piece says nothing about the work: small words alone,
// one verb alone in an offer, or verbs of which the object is a pronoun. Behind
// "then" a pronoun stands for what was said before.
func (x *extractor) fills(p piece) bool {
	verbs, pronoun := 0, false
	for i := p.first; i < p.end; i++ {
		switch w := x.doc.Words[i]; {
		case x.in(i, fillers) || w.Flags&text.Digits != 0:
			pronoun = pronoun || x.in(i, pronouns)
		case isVerb(w):
			verbs++
		default:
			return false
		}
	}
	return verbs == 0 || !p.follows && (pronoun || p.offered && verbs == 1)
}

// withCondition returns where the condition begins that a step is under, in its
// sentence and behind what the step before says; without one, the step's own
// beginning. What is to be done "once CI is green" is not to be done now.
func (x *extractor) withCondition(first, before int) int {
	const reach = 25 // words
	from := max(x.sentenceOf(first).First, before, first-reach)
	gaps := 0
	for i := first; i > from && gaps < 2; i-- {
		if x.doc.Words[i].Flags&(text.AfterGap|text.AfterLine) == text.AfterGap {
			gaps++
		}
		begins := i-1 == from || x.doc.Words[i-1].Flags&text.AfterGap != 0 || x.in(i-2, introWords, joiningWords)
		if gaps < 2 && begins && opensCondition(x.doc.Words, i-1) {
			return i - 1
		}
	}
	return first
}
