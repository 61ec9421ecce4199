package grammar

import (
	"math/bits"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// places are sets of places between the words of a phrase, one bit each: bit 0 is
// before its first word. In front of the word at a place of crossing a comma, a
// colon or the like may be; in front of the others it may not.
type places struct{ plain, crossing uint32 }

func (p places) union(q places) places { return places{p.plain | q.plain, p.crossing | q.crossing} }

func (p places) all() uint32 { return p.plain | p.crossing }

// match returns how many of the words the longest phrase of a pattern has that
// begins with the first of them, or 0 without one. Its time is bounded by the
// length of the pattern and of the longest phrase.
func (g *Grammar) match(t *terms, words []text.Word) int {
	m := matcher{g, words[:min(longest, len(words))]}
	ends := m.sequence(places{plain: 1}, t.list).all()
	if t.last {
		if len(words) > longest {
			return 0
		}
		ends &= 1 << len(words)
	}
	return bits.Len32(ends >> 1)
}

// matcher follows one pattern over the words of a phrase.
type matcher struct {
	g     *Grammar
	words []text.Word
}

// sequence returns the places that terms lead to from others.
func (m matcher) sequence(from places, list []term) places {
	for i := range list {
		t := &list[i]
		to := m.term(from, t)
		if t.repeated {
			to = from.union(to).union(m.term(to, t))
		}
		if to.all() == 0 {
			return to
		}
		from = to
	}
	return from
}

func (m matcher) term(from places, t *term) places {
	switch t.kind {
	case comma:
		return places{crossing: from.all()}
	case gap:
		at := from.all()
		return places{crossing: (at | at<<1 | at<<2 | at<<3) & m.inside()}
	case anyWord:
		return places{plain: from.all() << 1 & m.inside()}
	case choice, option:
		var to places
		if t.kind == option {
			to = from
		}
		for _, c := range t.choices {
			to = to.union(m.sequence(from, c))
		}
		return to
	default:
		return places{plain: m.named(from, t)}
	}
}

// inside has a bit for each place of the phrase.
func (m matcher) inside() uint32 { return 1<<(len(m.words)+1) - 1 }

// named returns the places behind the words that the term names.
func (m matcher) named(from places, t *term) (to uint32) {
	for at := from.all(); at != 0; at &= at - 1 {
		k := bits.TrailingZeros32(at)
		if k == len(m.words) {
			break
		}
		w := &m.words[k]
		if w.ID == t.word && t.word != 0 || m.g.sets[w.ID]&t.set != 0 {
			if k == 0 || from.crossing>>k&1 != 0 || !afterGap(w.Flags) {
				to |= 1 << (k + 1)
			}
		}
	}
	return to
}
