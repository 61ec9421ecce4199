package stop

import (
	"cmp"
	"encoding/hex"
	"hash/fnv"
	"slices"
	"strconv"
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

// rank says how surely a piece is a step, the surest first.
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
	// follows says that a word such as "then" puts it after the piece before it.
	follows bool
	// chained pieces belong to a list that says that its order counts.
	chained bool
}

// steps are what the real mentions of a message leave undone, in the order of the
// message. Two that name the same work, or share a part of the message, are one.
func steps(doc *text.Doc, mentions []mention) []Step {
	x := extractor{doc: doc, small: small(), verbs: workVerbs(), lists: map[int]bool{}, taken: map[int]bool{}}
	x.readAll(mentions)
	pieces := x.distinct()
	list := make([]Step, 0, len(pieces))
	for _, p := range pieces {
		list = append(list, x.step(p))
	}
	identify(list)
	x.depend(list, pieces)
	return list
}

// distinct are the pieces of the best ranks in order, without those that contain
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
	seen := map[string]bool{}
	kept = slices.DeleteFunc(kept, func(p piece) bool {
		folded := text.Fold(x.describe(p))
		repeated := seen[folded] || folded == ""
		seen[folded] = true
		return repeated
	})
	return kept[:min(len(kept), maxSteps)]
}

// best are the offered pieces and those of the best other rank, without those
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
	var kept []piece
	for i, p := range x.pieces {
		if (p.rank == offered || p.rank == top) && !x.repeats(i) {
			kept = append(kept, p)
		}
	}
	return kept
}

// repeats reports whether what a piece says stands in a firm one elsewhere: most
// of it if it is an offer, else all of its two or more long words.
func (x *extractor) repeats(i int) bool {
	p := x.pieces[i]
	said := x.stems(p)
	if len(x.pieces) > maxSteps || len(said) == 0 {
		return false
	}
	return slices.ContainsFunc(x.pieces, func(other piece) bool {
		if other.rank != firm || other.first < p.end && p.first < other.end {
			return false
		}
		have, n := x.stems(other), 0
		for stem := range said {
			if have[stem] {
				n++
			}
		}
		if p.rank == offered {
			return 5*n >= 3*len(said)
		}
		return n == len(said) && n > 1 && len(have) > n
	})
}

// stems are the beginnings of the longer words of a piece.
func (x *extractor) stems(p piece) words {
	const length = 4
	set := words{}
	for _, w := range x.doc.Words[p.first:min(p.end, p.first+maxStems)] {
		if len(w.Fold) >= length && !x.small.fillers[w.Fold] {
			set[w.Fold[:length]] = true
		}
	}
	return set
}

// maxStems is how many words of a piece are compared.
const maxStems = 40

// step describes and weighs a piece.
func (x *extractor) step(p piece) Step {
	description := x.describe(p)
	w := x.weigh(p, description)
	return Step{
		Description: description, Category: p.category, Complexity: w.complexity, Estimate: w.estimate,
		Span: x.span(p),
	}
}

// span is the piece's range of the message, with the bracket or the backtick that
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

// describe is the piece's text on one line, without marks of emphasis and closing
// punctuation, at most maxDescription bytes long.
func (x *extractor) describe(p piece) string {
	s := x.span(p)
	from := x.doc.Raw[s.Start:min(s.End, s.Start+4*maxDescription)]
	from = strings.NewReplacer("**", "", "__", "", "~~", "").Replace(strings.ToValidUTF8(from, ""))
	line := strings.Join(strings.FieldsFunc(from, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(line) > maxDescription {
		cut := maxDescription - len("…")
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		return line[:cut] + "…"
	}
	return strings.TrimRight(line, " .:;,!?…")
}

// identify gives each step an id: a hash of its folded description, which is the
// same in every message and numbered should two hashes be equal.
func identify(list []Step) {
	seen := map[string]int{}
	for i := range list {
		h := fnv.New64a()
		h.Write([]byte(text.Fold(list[i].Description)))
		id := hex.EncodeToString(h.Sum(nil))[:12]
		seen[id]++
		if n := seen[id]; n > 1 {
			id += "-" + strconv.Itoa(n)
		}
		list[i].ID = id
	}
}
