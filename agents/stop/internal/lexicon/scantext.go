package lexicon

import "github.com/rehearse-dev/rehearse/agents/stop/internal/text"

// window is how many words of a text are read at a time.
const window = 256

// ScanText appends to hits the phrases in a text that has no structure to respect:
// nothing is masked, and a phrase may not go over punctuation. The reader must
// have been made with the lexicon's vocabulary.
func (l *Lexicon) ScanText(r *text.Reader, s string, hits []TextHit) []TextHit {
	var tokens [window]text.Token
	held, next := 0, 0
	for {
		n, after := r.Tokens(s, next, tokens[held:])
		n += held
		next = after
		// The last words wait for those that a phrase may go on with.
		done := n - l.machine.longest
		if next >= len(s) {
			done = n
		}
		for i := range max(done, 0) {
			if state := l.machine.start(tokens[i].ID); state != 0 {
				hits = l.phrasesAt(tokens[i:n], state, hits)
			}
		}
		if next >= len(s) {
			return hits
		}
		held = copy(tokens[:], tokens[max(done, 0):n])
	}
}

// phrasesAt appends the phrases that begin with the first of the words.
func (l *Lexicon) phrasesAt(words []text.Token, state int32, hits []TextHit) []TextHit {
	m := &l.machine
	base := len(hits)
	for k := 1; ; k++ {
		for _, a := range m.accepted(state) {
			span := text.Span{Start: words[0].Start, End: words[k-1].End}
			hits = keepText(hits, base, TextHit{span, a.class, a.phrase})
		}
		if k == len(words) {
			return hits
		}
		if state = m.step(state, words[k].ID, words[k].Flags); state == 0 {
			return hits
		}
	}
}

func keepText(hits []TextHit, base int, h TextHit) []TextHit {
	for i := base; i < len(hits); i++ {
		if hits[i].Class == h.Class {
			hits[i] = h
			return hits
		}
	}
	return append(hits, h)
}
