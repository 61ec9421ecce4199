package stop

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// isNext reports whether a form of "to be" follows the phrase: what comes next is
// said then.
func (r *reading) isNext(s int, h grammar.Hit) bool {
	end := min(int(h.End)+3, r.doc.Sentences[s].End)
	for i := int(h.End); i < end; i++ {
		switch r.doc.Words[i].Fold {
		case "is", "are", "will", "est", "sont", "sera", "seront", "consiste", "consistent":
			return i+1 == r.doc.Sentences[s].End || !r.participle(i+1)
		}
	}
	return false
}

// participle reports whether the word is one: "the next steps are dated".
func (r *reading) participle(word int) bool {
	w := r.doc.Words[word]
	g := lexicon()
	return g.Sets(w.ID)&(g.Set("en.did")|g.Set("fr.part")) != 0 || strings.HasSuffix(w.Fold, "ees")
}

// describes reports whether the sentence says what the things left are, and not
// that they are undone: "the remaining tests are unit tests:".
func (r *reading) describes(s int, h grammar.Hit) bool {
	if r.hasAny(s, fails, need, undone) || r.doc.Sentences[s].Ending != text.Colon || isTask[r.doc.Words[h.End-1].Fold] {
		return false
	}
	for _, w := range r.doc.Words[h.End:r.doc.Sentences[s].End] {
		if w.Fold == "are" || w.Fold == "is" || w.Fold == "sont" || w.Fold == "est" {
			return true
		}
	}
	return false
}

// isTask are words for work itself: a list of them is one of things to do,
// whatever is said of them.
var isTask = wordSet("work tasks steps todos items travail taches etapes actions")

// isReference reports whether a phrase names no work: nothing is left, a document
// has such a section, the past is told.
func (r *reading) isReference(s int, h grammar.Hit) bool {
	if r.settled(s, h) || r.nothingLeft(s, h) || r.contents(s, h) {
		return true
	}
	if lead := r.block(s).Lead; lead >= 0 && r.doc.Blocks[lead].End > r.doc.Blocks[lead].First &&
		r.hasAny(r.doc.Blocks[lead].End-1, document, answers) && h.Class == next {
		return true
	}
	if int(h.First) > r.doc.Sentences[s].First && r.doc.Words[h.First-1].Flags&text.Digits != 0 && r.doc.Words[h.First-1].Fold == "0" {
		return true
	}
	for _, p := range r.phrases(s) {
		if p.Class == done && h.Class == next && p.End <= h.First && !r.gapBetween(p.End, h.First) {
			return true
		}
		reach := int32(2)
		if h.Class != next {
			reach = 1
		}
		if p.Class == negation && r.doc.Words[p.First].Fold == "no" {
			reach = 5 // "no other phases of the port remain"
		}
		near := p.End <= h.First && h.First-p.End <= reach && !r.gapBetween(p.End, h.First) ||
			p.First >= h.End && p.First-h.End < reach && !r.gapBetween(h.End, p.First)
		subject := p.End <= h.First && r.isVerbal(h)
		if near && (p.Class == document && !subject || p.Class == negation && p.First < h.First || p.Class == history && p.End <= h.First) {
			return true
		}
	}
	return false
}

// contents reports whether the sentence lists the contents of a document: "it lists the
// risks and the remaining questions".
func (r *reading) contents(s int, h grammar.Hit) bool {
	d, ok := r.first(s, document)
	if !ok || d.First >= h.First || int(d.First)-r.doc.Sentences[s].First > 1 || !holds[r.doc.Words[d.First].Fold] {
		return false
	}
	for _, w := range r.doc.Words[d.End:h.First] {
		if w.Fold == "but" || w.Fold == "mais" {
			return false
		}
	}
	return true
}

// holds are verbs whose subject is a document.
var holds = wordSet(`
		describes lists contains covers explains mentions shows includes decrit liste contient presente explique detaille`)

// isVerbal reports whether a phrase begins with a verb or a negation: a document
// before it is its subject then, as in "the page is not done".
func (r *reading) isVerbal(h grammar.Hit) bool {
	switch r.doc.Words[h.First].Fold {
	case "is", "are", "was", "were", "has", "have", "isn", "aren", "hasn", "haven", "not", "never", "still", "yet", "need",
		"needs", "remain", "remains", "n", "ne", "est", "sont", "reste", "restent", "pas", "a", "doit", "doivent", "manque":
		return true
	default:
		return false
	}
}

// nothingLeft reports whether the phrase is followed by "nothing" or the like.
func (r *reading) nothingLeft(s int, h grammar.Hit) bool {
	for _, p := range r.phrases(s) {
		if h.Class == undone && p.First >= h.First && p.End <= h.End {
			continue // "nothing was tested"
		}
		if p.Class == negation && h.Class != next && h.First-p.End <= 2 && p.First-h.End <= 2 && r.isNothing(p) &&
			(p.First < h.End || !r.gapBetween(h.End, p.First) || r.colonAfter(h, 0)) {
			return true
		}
	}
	return false
}

// isNothing reports whether a negation is one of things: "none", "rien".
func (r *reading) isNothing(h grammar.Hit) bool {
	switch r.doc.Words[h.First].Fold {
	case "nothing", "none", "nobody", "rien", "aucun", "aucune":
		return true
	default:
		return false
	}
}

// startsWith reports whether a phrase begins its sentence, small words apart.
func (r *reading) startsWith(s int, h grammar.Hit) bool {
	return int(h.First)-r.doc.Sentences[s].First <= 2
}

// colonAfter reports whether a colon follows the phrase within its sentence, behind
// so many words at most.
func (r *reading) colonAfter(h grammar.Hit, words int) bool {
	s := &r.doc.Sentences[h.Sentence]
	end := s.Span.End
	if after := int(h.End) + words; after < s.End {
		end = r.doc.Words[after].Start
	}
	at := r.span(h.First, h.End).End
	return at <= end && strings.Contains(r.doc.Raw[at:end], ":")
}

// gapBetween reports whether a comma, a colon or the like is before one of the
// words from first to last.
func (r *reading) gapBetween(first, last int32) bool {
	for _, w := range r.doc.Words[first : last+1] {
		if w.Flags&(text.AfterGap|text.AfterLine) == text.AfterGap {
			return true
		}
	}
	return false
}
