package stop

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// orders are phrases of an introduction after which the order of a list
// counts. Numbers alone do not: they mostly count.
var orders = []string{
	" in order ", " in this order ", " in that order ", " in sequence ", " one after ", " step by step ",
	" dans l ordre ", " dans cet ordre ", " l un apres ", " etape par etape ",
}

// inOrder reports whether a block states that the order of its list counts.
func (x *extractor) inOrder(block int) bool {
	const most = 60 // words
	b := x.doc.Blocks[block]
	if b.First >= b.End {
		return false
	}
	said := " "
	end := x.doc.Sentences[b.End-1].End
	for _, w := range x.doc.Words[max(x.doc.Sentences[b.First].First, end-most):end] {
		said += w.Fold + " "
	}
	return slices.ContainsFunc(orders, func(phrase string) bool { return strings.Contains(said, phrase) })
}

// depend adds the dependencies that words express: "then X" needs the step before it,
// "after X" and "once X" the step that X names, and "before X" makes that step
// need this one. One that would close a circle is left out.
func (x *extractor) depend(list []Step, pieces []piece) {
	var needs, reach [maxSteps]uint64 // the steps that each needs, and with all that these need
	add := func(i, j int) {
		if i == j || reach[j]>>i&1 != 0 {
			return
		}
		needs[i] |= 1 << j
		for k := range pieces {
			if k == i || reach[k]>>i&1 != 0 {
				reach[k] |= reach[j] | 1<<j
			}
		}
	}
	for i, p := range pieces {
		if i > 0 && (p.follows || p.chained && pieces[i-1].chained) {
			add(i, i-1)
		}
		for _, ref := range x.named(p) {
			switch j := x.find(pieces, ref, i); {
			case j < 0:
			case ref.before:
				add(j, i)
			default:
				add(i, j)
			}
		}
	}
	for i := range list {
		for j := range list {
			if needs[i]>>j&1 != 0 {
				list[i].DependsOn = append(list[i].DependsOn, list[j].ID)
			}
		}
	}
}

// reference is another step that a step names: by the words for it, or by its number.
type reference struct {
	words  stems
	number int
	before bool
}

// named returns the references of a piece behind words such as "after" and "depends on", in its
// sentence from up to ten words before it, and in the rest of its item.
func (x *extractor) named(p piece) []reference {
	const reach, back, most = 6, 10, 4
	s := x.sentenceOf(p.first)
	end := p.end
	if p.list > 0 {
		end = min(x.doc.Sentences[x.doc.Blocks[s.Block].End-1].End, p.first+maxWords)
	}
	var found []reference
	for i := max(s.First, p.first-back); i < end && len(found) < most; i++ {
		if !x.in(i, afterWords, beforeWords, needingWords) {
			continue
		}
		ref := reference{before: x.in(i, beforeWords)}
		at := i + 1
		for at < end && x.in(at, fillers) {
			at++
		}
		for ; at < end && x.ordinal(at, end); at++ {
			ref.number, _ = strconv.Atoi(x.doc.Words[at].Fold)
			found = append(found, ref)
			if at+1 < end && x.in(at+1, joiningWords) {
				at++
			}
		}
		if ref.number == 0 {
			ref.words = x.stems(piece{first: i + 1, end: max(i+1, min(i+1+reach, end, x.sentenceOf(i).End))})
			found = append(found, ref)
		}
	}
	return found
}

// ordinal reports whether a word is the number of a step: not a part of "2.5", and not a count
// as in "2 days".
func (x *extractor) ordinal(i, end int) bool {
	w := x.doc.Words[i]
	if w.Flags&text.Digits == 0 || w.Flags&text.Linked != 0 {
		return false
	}
	next := i + 1
	return next >= end || x.in(next, joiningWords, copulas) || x.doc.Words[next].Flags&text.AfterGap != 0 && x.doc.Words[next].Start > w.End+1
}

// find returns the piece other than i that a reference names, -1 if there is none or it is
// reported as done: the one with that number in the same list, or the first of those that
// share most of its words.
func (x *extractor) find(pieces []piece, ref reference, i int) int {
	found, most := -1, 0
	for j, p := range pieces {
		switch {
		case j == i:
		case ref.number > 0:
			if p.number == ref.number && p.list == pieces[i].list {
				return j
			}
		default:
			if n := x.stems(p).shared(ref.words); n > most {
				found, most = j, n
			}
		}
	}
	for b := range x.doc.Blocks[:min(len(x.doc.Blocks), maxBlocks)] {
		if found < 0 || x.doc.Blocks[b].Kind != text.Item || !x.over(b) {
			continue
		}
		first, end := x.firstSentence(b)
		if x.stems(piece{first: first, end: end}).shared(ref.words) >= most {
			return -1
		}
	}
	return found
}
