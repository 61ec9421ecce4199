package grammar

// outlook is which words phrases of a pattern may have as their first and as their
// second word. It decides without a search that most words begin no phrase.
type outlook [2]options

// options are the words, by number and by set, that may be at a place of a phrase.
type options struct {
	words []int32
	bits  uint64 // of the words: a bit that few words share
	sets  uint64
	any   bool // every word may, and behind the first one the end of the phrase
}

func bitOf(word int32) uint64 { return 1 << (word & 63) }

// follow adds what the terms read at places of a phrase, the bits 0 and 1, and
// returns the places that they lead to.
func (o *outlook) follow(from uint8, list []term) uint8 {
	for i := range list {
		t := &list[i]
		to := o.term(from, t)
		if t.repeated {
			to |= from | o.term(to, t)
		}
		from = to
	}
	return from
}

func (o *outlook) term(from uint8, t *term) (to uint8) {
	switch t.kind {
	case comma:
		return from
	case choice, option:
		if t.kind == option {
			to = from
		}
		for _, c := range t.choices {
			to |= o.follow(from, c)
		}
		return to
	case gap:
		to = from
	default:
	}
	for place := range o {
		if from>>place&1 == 0 {
			continue
		}
		p := &o[place]
		switch t.kind {
		case word:
			p.words = append(p.words, t.word)
			p.bits |= bitOf(t.word)
		case set:
			p.sets |= t.set
		default:
			p.any = true
		}
	}
	return to | from<<1&3
}
