package stop

import (
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// acts reports whether a range of words begins with a verb, in any form, perhaps
// behind its subject.
func (x *extractor) acts(first, end int) bool {
	if first+1 < end && x.is(first, subjects) {
		if x.is(first, persons) {
			return true
		}
		first++
	}
	for first < end && x.is(first, clitics) {
		first++
	}
	return first < end && x.verbs.is(x.doc.Words[first])
}

// skipIntroduction passes over words such as "now let me" and "il reste à". A
// verb of work ends them.
func (x *extractor) skipIntroduction(i, end int) int {
	begin := i
	for i < end && x.is(i, introduction) {
		i++
	}
	// "proceed with": the verb belongs to it.
	if i > begin && i < end && x.is(i, with) {
		return i - 1
	}
	// "je pousse", "on lance": the verb needs its subject.
	if i > begin && i < end && x.verbs.is(x.doc.Words[i]) && !x.verbs.begins(x.doc.Words[i]) && x.is(i-1, subjects) {
		i--
	}
	return i
}

// clauseStart returns where the clause of a word begins.
func (x *extractor) clauseStart(first, at int) int {
	const reach = 60
	first = max(first, at-reach)
	for i := at; i > first; i-- {
		if x.gapHas(i, ",;:—–") {
			return i
		}
	}
	return first
}

// split adds the pieces of a range of a sentence, each like p. Verbs behind a
// comma, behind "then" or with a subject of their own are steps of their own; with
// list, so are those joined by "and" alone.
func (x *extractor) split(first, end int, p piece, list bool) {
	end = min(end, first+maxWords)
	if x.parts(first, end, p) {
		return
	}
	cut := x.clauseEnd(first, end)
	if cut < end && x.verbs.begins(x.doc.Words[cut]) { // it says how the work is done
		cut = x.clauseEnd(cut, end)
		p.first, p.end = first, cut
		x.add(p, false)
		return
	}
	end = cut
	p.first = first
	for i := first + 1; i < end; i++ {
		if x.turns(i) {
			end = i
			break
		}
		next, follows := x.boundary(p.first, i, end, list)
		if next == 0 {
			continue
		}
		p.end = i
		x.add(p, false)
		p.first, p.follows = next, follows
		i = next
	}
	p.end = end
	x.add(p, false)
}

// turns reports whether word i begins an alternative or a question: ", or focus on
// …", "or do you …?".
func (x *extractor) turns(i int) bool {
	return x.is(i, alternative) && (x.gapHas(i, ",") || i+1 < len(x.doc.Words) && x.is(i+1, asking))
}

// boundary returns where the next piece begins if the one from start ends before
// word i, 0 if it does not, and whether a word of order is between.
func (x *extractor) boundary(start, i, end int, list bool) (next int, follows bool) {
	words := x.doc.Words
	at := i
	comma, joined := x.gapHas(i, ",;"), x.is(i, conjoining)
	if joined {
		at++
	}
	if at >= end {
		return 0, false
	}
	if x.is(at, connectives) {
		next = x.skipIntroduction(at+1, end)
		if next < end && (comma || joined || x.is(at, then) && x.verbs.begins(words[next])) {
			return next, true
		}
		return 0, false
	}
	if !comma && !joined {
		return 0, false
	}
	if x.is(at, subjects) {
		if next = x.skipIntroduction(at, end); x.acts(next, end) {
			return next, false
		}
		return 0, false
	}
	// In "restore and run the tests" the verbs share their object.
	shares := joined && !comma && i-start == 1 && end-at > 1
	if (list || comma) && x.verbs.begins(words[at]) && !x.is(i, alternative) && !shares {
		return at, false
	}
	return 0, false
}

// clauseEnd cuts off what only comments on a step: what follows a dash or a
// semicolon, or asks for something else.
func (x *extractor) clauseEnd(first, end int) int {
	for i := first + 1; i < end; i++ {
		if x.doc.Words[i].Flags&text.AfterGap == 0 || opensCondition(x.doc.Words, i) {
			continue // a condition is not a comment
		}
		gap := x.gap(i)
		dash := strings.ContainsAny(gap, "—–") || strings.Contains(gap, " - ")
		if dash || strings.Contains(gap, ";") && !x.verbs.is(x.doc.Words[i]) {
			return i
		}
	}
	return end
}

// afterLabel passes over the label of an item: "Testing - add tests for …".
func (x *extractor) afterLabel(first, end int) int {
	const longestLabel = 2
	for i := first + 1; i < min(first+1+longestLabel, end); i++ {
		gap := x.gap(i)
		separated := strings.ContainsAny(gap, "—–:") || strings.Contains(gap, " - ")
		if separated && x.verbs.begins(x.doc.Words[i]) {
			return i
		}
	}
	return first
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
		p.first, p.end = start, end
		if n+1 < len(starts) {
			p.end = starts[n+1] - 1
		}
		p.end, p.number = x.clauseEnd(p.first, p.end), n+1
		x.add(p, true)
	}
	return true
}

// colonList adds the parts of a list behind a colon that semicolons separate, if a range begins
// with one: "Still to do: tests; docs; release."
func (x *extractor) colonList(first, end int, p piece) bool {
	var ends []int
	if first < end && x.gapHas(first, ":") {
		for i := first + 1; i < min(end, first+maxWords); i++ {
			if x.gapHas(i, ";") {
				ends = append(ends, i)
			}
		}
	}
	for _, at := range append(ends, end) {
		if len(ends) > 0 {
			p.first, p.end, first = first, at, at
			x.add(p, true)
		}
	}
	return len(ends) > 0
}

// numbers reports whether word i is the n-th number or letter of a list; 0 is any
// number.
func (x *extractor) numbers(i, end, n int) bool {
	w := x.doc.Words[i]
	if i+1 >= end || w.End >= len(x.doc.Raw) || w.Flags&text.Linked != 0 {
		return false
	}
	closing := x.doc.Raw[w.End]
	if closing != ')' && closing != '.' {
		return false
	}
	number := w.Fold == strconv.Itoa(n) || n == 0 && w.Flags&text.Digits != 0
	letter := n > 0 && n <= 26 && w.Fold == string(rune('a'+n-1))
	return number || letter && closing == ')'
}

// add adds a piece unless it is empty. Only a listed one may say nothing about the work.
func (x *extractor) add(p piece, listed bool) {
	for p.end > p.first && x.is(p.end-1, conjoining|connectives) {
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
	for _, w := range x.doc.Words[p.first:max(p.first, p.end)] {
		switch sets := x.small.of(w.Fold); {
		case sets&fillers != 0 || w.Flags&text.Digits != 0:
			pronoun = pronoun || sets&pronouns != 0
		case x.verbs.is(w):
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
	s := x.sentenceOf(first)
	gaps := 0
	for i := first; i > max(s.First, before, first-reach); i-- {
		if gap := x.doc.Words[i].Flags & (text.AfterGap | text.AfterLine); gap == text.AfterGap {
			gaps++
		}
		if gaps > 1 {
			return first
		}
		begins := i-1 == s.First || x.doc.Words[i-1].Flags&text.AfterGap != 0 || x.is(i-2, introduction|conjoining)
		if begins && opensCondition(x.doc.Words, i-1) {
			return i - 1
		}
	}
	return first
}
