package stop

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Bounds of what is extracted from one message.
const (
	maxSteps       = 50
	maxDescription = 300 // bytes
)

// rank is the certainty that a piece is a step, the surest first.
type rank uint8

// The ranks. Of all but offered, only the best that occurs is kept; offered pieces
// are kept beside firm ones, states and choices, and in place of the others.
const (
	firm    rank = iota // an item of a list of what is left, or an announcement
	offered             // "Shall I …?"
	state               // an item that says what is wrong, not what to do
	choice              // an item of a list that the user is to choose from
	loose               // a state that implies work, or what could be done
	vague               // "proceed with this"
)

// piece is a range of words of the document that names one piece of work.
type piece struct {
	first, end int // words
	category   Category
	rank       rank
	listed     bool // an item, a row or a part of an inline list
	// follows is true if a word such as "then" puts it after the previous piece.
	follows bool
	// list is the block that introduces the list that the piece is an item of, plus 1.
	list int
	// chained pieces belong to a list whose order counts.
	chained bool
}

// steps returns what the real mentions of a message leave undone, in the order of the
// message. Two that name the same work, or share a part of the message, are one.
// Items for which finished returns true are skipped; it may be nil.
func steps(doc *text.Doc, mentions []mention, finished func(*text.Block) bool) []Step {
	x := extractor{doc: doc, finished: finished, small: smallWords(), verbs: workVerbs(), taken: map[int]bool{}}
	x.readAll(mentions)
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

// distinct returns the pieces of the best ranks in order, without those that contain
// another one, say nothing, or repeat what another says.
func (x *extractor) distinct() []piece {
	all := x.best()
	// Of two that begin together, the shorter one comes first.
	slices.SortStableFunc(all, func(a, b piece) int { return cmp.Or(a.first-b.first, a.end-b.end) })
	var kept []piece
	for _, p := range all {
		for len(kept) > 0 && kept[len(kept)-1].end >= p.end && kept[len(kept)-1].first < p.first {
			kept = kept[:len(kept)-1] // contains p
		}
		if len(kept) == 0 || kept[len(kept)-1].end <= p.first {
			kept = append(kept, p)
		}
	}
	seen := map[uint64]bool{}
	kept = slices.DeleteFunc(kept, func(p piece) bool {
		key := x.key(p)
		repeated := seen[key]
		seen[key] = true
		return repeated
	})
	return kept[:min(len(kept), maxSteps)]
}

// best returns the offered pieces and those of the best other rank, without those
// that only repeat others.
func (x *extractor) best() []piece {
	top, offers := vague, false
	for _, p := range x.pieces {
		if p.rank != offered {
			top = min(top, p.rank)
		}
		offers = offers || p.rank == offered
	}
	if top >= loose && offers {
		top = offered
	}
	kept := make([]piece, 0, len(x.pieces))
	var stems [][]stem
	if n := len(x.pieces); n > 1 && n <= maxSteps { // else it would take too long to compare them
		stems = make([][]stem, n)
		for i, p := range x.pieces {
			stems[i] = x.stems(p)
		}
	}
	for i, p := range x.pieces {
		if (p.rank == offered || p.rank == top) && (stems == nil || !x.repeats(i, stems)) {
			kept = append(kept, p)
		}
	}
	return kept
}

// repeats reports whether what a piece says is in a firm one elsewhere: most
// of it if it is an offer, else all of its two or more long words.
func (x *extractor) repeats(i int, stems [][]stem) bool {
	p, said := x.pieces[i], len(stems[i])
	if said == 0 {
		return false
	}
	for j, other := range x.pieces {
		if other.rank != firm || other.first < p.end && p.first < other.end || p.list > 0 && p.list == other.list {
			continue // itself, or another item of the same list
		}
		n := shared(stems[i], stems[j])
		whole := n == said && n > 1 && (len(stems[j]) > n || j < i)
		if whole || p.rank == offered && 5*n >= 3*said {
			return true
		}
	}
	return false
}

// stem is the first four letters of a word.
type stem [4]byte

// stems returns those of the longer words of a piece that say something, each once,
// in order.
func (x *extractor) stems(p piece) []stem {
	const most = 40
	all := make([]stem, 0, min(p.end-p.first, most))
	for _, w := range x.doc.Words[p.first:min(p.end, p.first+most)] {
		if len(w.Fold) >= len(stem{}) && x.small.of(w.Fold)&fillers == 0 {
			all = append(all, stem([]byte(w.Fold[:len(stem{})])))
		}
	}
	slices.SortFunc(all, compareStems)
	return slices.Compact(all)
}

func compareStems(a, b stem) int { return bytes.Compare(a[:], b[:]) }

// shared counts the stems that two lists have in common.
func shared(a, b []stem) int {
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := compareStems(a[i], b[j]); {
		case c == 0:
			n++
			i++
			j++
		case c < 0:
			i++
		default:
			j++
		}
	}
	return n
}

// step describes and weighs a piece.
func (x *extractor) step(p piece) Step {
	w := x.weigh(p)
	span := x.span(p)
	return Step{
		ID: id(x.key(p)), Description: plain(x.doc.Raw[span.Start:span.End]), Category: p.category,
		Complexity: w.complexity, Estimate: w.estimate, Span: span, NeedsUser: Irreversible(x.doc.Raw[span.Start:span.End]),
	}
}

// key returns a hash of the folded words of a piece (FNV-1a), which is equal for pieces
// that say the same in another spelling.
func (x *extractor) key(p piece) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, w := range x.doc.Words[p.first:p.end] {
		fold := w.Fold
		if fold == "" { // code
			fold = x.doc.Raw[w.Start:w.End]
		}
		for i := range len(fold) {
			h = (h ^ uint64(fold[i])) * prime
		}
		h = (h ^ ' ') * prime
	}
	return h
}

// id returns the text of a key.
func id(key uint64) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, key))
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
	switch c {
	case ')':
		return strings.Count(s, "(") > strings.Count(s, ")")
	case ']':
		return strings.Count(s, "[") > strings.Count(s, "]")
	case '`':
		return strings.Count(s, "`")%2 == 1
	}
	return false
}

// plain returns a text on one line, without marks of emphasis, at most maxDescription
// bytes long.
func plain(s string) string {
	var b strings.Builder
	b.Grow(min(len(s), maxDescription+utf8.UTFMax))
	space := false
	for i, r := range s {
		switch {
		case b.Len() > maxDescription:
			return clip(b.String())
		case r <= ' ' || r >= 0x7f && (unicode.IsSpace(r) || unicode.IsControl(r)):
			space = b.Len() > 0
			continue
		case r == utf8.RuneError || (r == '*' || r == '_' || r == '~') && doubled(s, i):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if b.Len() > maxDescription {
		return clip(b.String())
	}
	return b.String()
}

// doubled reports whether the mark at i is beside one of its kind.
func doubled(s string, i int) bool {
	return i > 0 && s[i-1] == s[i] || i+1 < len(s) && s[i+1] == s[i]
}

// clip cuts a text to maxDescription bytes.
func clip(s string) string {
	const more = "…"
	cut := maxDescription - len(more)
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + more
}
