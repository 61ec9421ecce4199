package stop

import "github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"

// approvals finds what a person must approve, confirm, permit or review before the
// agent goes on. A message that waits for that asks, whatever else it announces.
func (r *reading) approvals() {
	for s := range r.sentences {
		h, ok := r.first(s, approval)
		if !ok || r.granted(s, h) {
			continue
		}
		r.approval = true
		r.evidence.see(asksInput, r.span(h.First, h.End))
		return
	}
}

// granted reports whether a sentence says that the approval is there or is not
// needed: "no need for your approval", "with your approval I merged it".
func (r *reading) granted(s int, h grammar.Hit) bool {
	words := r.doc.Words
	for i := max(int(h.First)-4, r.doc.Sentences[s].First); i < int(h.First); i++ {
		needless := i+1 < len(words) && (needs[words[i+1].Fold] || i+2 < len(words) && needs[words[i+2].Fold])
		if needless && negations[words[i].Fold] {
			return true
		}
	}
	_, reported := r.report(s)
	return reported && (granting[words[h.First].Fold] || int(h.First) > 0 && granting[words[h.First-1].Fold]) &&
		!r.hasAny(s, announce, intends, need, waiting, undone, negation)
}

//nolint:misspell // half of the words are French
var (
	needs = wordSet(`
		need needs needed require requires required necessary besoin necessite requiert exige necessaire`)
	negations = wordSet("no not t never without pas aucun aucune sans plus ne n")
	granting  = wordSet("with after as since following your avec apres suite depuis votre ton")
)
