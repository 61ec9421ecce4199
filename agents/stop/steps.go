package stop

import (
	"cmp"
	"encoding/hex"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Bounds of what is extracted from one message.
const (
	maxSteps       = 50
	maxDescription = 300 // bytes
)

// rank is the certainty that a piece is a step, the surest first. Only the pieces of the
// best rank that occurs are steps.
type rank uint8

// The ranks.
const (
	firm  rank = iota // an item of a list of what is left, or an announcement
	open              // an offer, a choice, or an item that says what is wrong and not what to do
	loose             // a state that implies work, or what could be done
	vague             // "proceed with this"
)

// piece is a range of words of the document that names one piece of work.
type piece struct {
	first, end int // words
	category   Category
	rank       rank
	offered    bool
	// since is the first word of the sentence whose mention the piece comes from.
	since int
	// passing pieces are superseded by what a later sentence announces or lists: an
	// agent that says what it does next has done, or given up, what it said before.
	passing bool
	// list is the block that introduces the list that the piece is an item of, plus 1,
	// and number its number in that list. Both are 0 elsewhere.
	list, number int
	// chained pieces belong to a list whose order counts; one that follows has a word
	// such as "then" between itself and the previous piece.
	chained, follows bool
}

// steps returns what the real mentions of a message leave undone, in the order of the
// message. Two that name the same work, or share a part of the message, are one.
// Items for which finished returns true are skipped; it may be nil.
func steps(doc *text.Doc, mentions []mention, finished func(*text.Block) bool) []Step {
	x := extractor{doc: doc, finished: finished}
	x.read(mentions)
	var list []Step
	before := 0 // where the step before ends
	pieces := slices.DeleteFunc(x.distinct(), func(p piece) bool {
		p.first = x.withCondition(p.first, before)
		before = p.end
		s := x.step(p)
		if s.Description != "" { // nothing is left of a lone mark
			list = append(list, s)
		}
		return s.Description == ""
	})
	x.depend(list, pieces)
	return list
}

// distinct returns the pieces that are steps, in order, without those that contain
// another one or repeat what another names.
func (x *extractor) distinct() []piece {
	all := x.unrepeated(x.best(x.current()))
	// Of two that begin together, the shorter one comes first.
	slices.SortStableFunc(all, func(a, b piece) int { return cmp.Or(a.first-b.first, a.end-b.end) })
	var kept []piece
	seen := map[string]bool{}
	for _, p := range all {
		for n := len(kept) - 1; n >= 0 && kept[n].end >= p.end && kept[n].first < p.first && kept[n].list == 0; n-- {
			kept = kept[:n] // contains p, and is not an item
		}
		if len(kept) == 0 || kept[len(kept)-1].end <= p.first {
			kept = append(kept, p)
		}
	}
	kept = slices.DeleteFunc(kept, func(p piece) bool {
		id := x.id(p)
		repeated := seen[id]
		seen[id] = true
		return repeated
	})
	return kept[:min(len(kept), maxSteps)]
}

// current returns the pieces without those that a later part of the message supersedes.
func (x *extractor) current() []piece {
	last, lastList := -1, -1
	for _, p := range x.pieces {
		if p.rank != firm {
			continue
		}
		if p.passing || p.list > 0 {
			last = max(last, p.since)
		}
		if p.list > 0 && !p.passing {
			lastList = max(lastList, p.since)
		}
	}
	from := x.unstarted(last)
	return slices.DeleteFunc(x.pieces, func(p piece) bool {
		if p.passing {
			return p.since < from
		}
		return p.list > 0 && p.since < lastList && x.codeBetween(p.since, lastList)
	})
}

// unstarted returns where the last announcement begins, or the one in the sentence before it if
// that is not begun: "I'll add the page. First let me see the menu."
func (x *extractor) unstarted(last int) int {
	if last <= 0 {
		return last
	}
	s, before := x.sentenceOf(last), x.sentenceOf(last-1)
	for i := s.First; i < min(s.End, last+6); i++ {
		if before.Block == s.Block && x.in(i, startingWords) {
			return before.First
		}
	}
	return last
}

// codeBetween reports whether a block of code is between two words.
func (x *extractor) codeBetween(from, to int) bool {
	blocks := x.doc.Blocks[x.sentenceOf(from).Block:x.sentenceOf(to).Block]
	return slices.ContainsFunc(blocks, func(b text.Block) bool { return b.Kind == text.Code })
}

// best returns the pieces of the best rank that occurs.
func (x *extractor) best(all []piece) []piece {
	top := vague
	for _, p := range all {
		top = min(top, p.rank)
	}
	return slices.DeleteFunc(all, func(p piece) bool { return p.rank != top })
}

// unrepeated returns the pieces without those whose two or more long words are all in
// another one, which is not of the same list and is longer or comes before.
func (x *extractor) unrepeated(all []piece) []piece {
	if len(all) > maxSteps {
		return all // it would take too long to compare them
	}
	stems := make([]stems, len(all))
	for i, p := range all {
		stems[i] = x.stems(p)
	}
	var kept []piece
	for i, p := range all {
		repeats := false
		for j, other := range all {
			apart := other.first >= p.end || p.first >= other.end
			if apart && (p.list == 0 || p.list != other.list) {
				n := stems[i].shared(stems[j])
				repeats = repeats || n == len(stems[i]) && n > 1 && (len(stems[j]) > n || j < i)
			}
		}
		if !repeats {
			kept = append(kept, p)
		}
	}
	return kept
}

// stems are the first four letters of the longer words of a piece, without fillers.
type stems map[string]bool

func (x *extractor) stems(p piece) stems {
	const letters, most = 4, 40
	all := stems{}
	for _, w := range x.doc.Words[p.first:min(p.end, p.first+most)] {
		if len(w.Fold) >= letters && !fillers[w.Fold] {
			all[w.Fold[:letters]] = true
		}
	}
	return all
}

// shared counts the stems that both have.
func (s stems) shared(other stems) int {
	n := 0
	for stem := range s {
		if other[stem] {
			n++
		}
	}
	return n
}

// step describes and weighs a piece.
func (x *extractor) step(p piece) Step {
	span := x.span(p)
	raw := x.doc.Raw[span.Start:span.End]
	s := Step{ID: x.id(p), Description: plain(raw), Category: p.category, Span: span, NeedsUser: Irreversible(raw)}
	s.Complexity, s.Estimate = x.weigh(p)
	return s
}

// id returns a hash of the folded words of a piece, which is equal for pieces that say
// the same in another spelling.
func (x *extractor) id(p piece) string {
	h := fnv.New64a()
	for _, w := range x.doc.Words[p.first:p.end] {
		h.Write([]byte(cmp.Or(w.Fold, x.doc.Raw[w.Start:w.End]) + " ")) // code has no fold
	}
	return hex.EncodeToString(h.Sum(nil))
}

// span returns the piece's range of the message, with the bracket or the backtick that
// closes it.
func (x *extractor) span(p piece) Span {
	raw := x.doc.Raw
	s := Span{x.doc.Words[p.first].Start, x.doc.Words[p.end-1].End}
	for s.End < len(raw) && closes(raw[s.Start:s.End], raw[s.End]) {
		s.End++
	}
	return s
}

// closes reports whether a character closes what a text leaves open.
func closes(s string, c byte) bool {
	opening, ok := map[byte]string{')': "(", ']': "["}[c]
	return ok && strings.Count(s, opening) > strings.Count(s, string(c)) || c == '`' && strings.Count(s, "`")%2 == 1
}

// emphasis removes the marks of strong and deleted text.
var emphasis = strings.NewReplacer("***", "", "**", "", "__", "", "~~", "")

// plain returns a text on one line, without marks of emphasis, at most maxDescription
// bytes long.
func plain(s string) string {
	return Clip(emphasis.Replace(s[:min(len(s), 4*maxDescription)]), maxDescription)
}
