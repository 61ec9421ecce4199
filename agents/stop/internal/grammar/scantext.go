package grammar

import "github.com/rehearse-dev/rehearse/agents/stop/internal/text"

// TextHit is a phrase that was found in a text without structure.
type TextHit struct {
	text.Span
	Class   Class
	Pattern int32
}

// window is how many words of a text are read at a time.
const window = 128

// ScanText appends the phrases of a language in a text that is read without its
// structure: nothing is masked, each gap may be the start of a sentence, and only
// the end of the text is the end of one. The reader must number by g.Words.
func (g *Grammar) ScanText(r *text.Reader, s string, lang Lang, hits []TextHit) []TextHit {
	var words [window]text.Word
	var found [maxClasses]Hit
	held, next := 0, 0
	for {
		n, after := r.Tokens(s, next, words[held:])
		n += held
		next = after
		// The last words wait for those that a phrase may go on with.
		done := n
		if next < len(s) {
			done = max(0, n-longest)
		}
		for i := range done {
			w := &words[i]
			place := anywhere
			if w.Start == 0 || afterGap(w.Flags) {
				place = sentenceStart
			}
			next := int32(0)
			if i+1 < n {
				next = words[i+1].ID
			}
			if !g.openers[place][w.ID].allows(&g.traits[next]) {
				continue
			}
			m := g.machine.Load()
			at := m.begin(place, lang, w.ID)
			if at == nil {
				continue
			}
			for _, h := range m.follow(words[i:n], at, found[:0]) {
				span := text.Span{Start: w.Start, End: words[i+int(h.End)-1].End}
				hits = append(hits, TextHit{span, h.Class, h.Pattern})
			}
		}
		if next >= len(s) {
			return hits
		}
		held = copy(words[:], words[done:n])
	}
}
