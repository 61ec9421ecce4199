package stop

import (
	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
)

// settled reports whether the sentence says that the work which the phrase names is
// done: "the remaining cases were fixed", "I fixed the remaining cases", "the
// remaining tests pass", "all remaining tasks are complete".
func (r *reading) settled(s int, h grammar.Hit) bool {
	if h.Class != left && h.Class != next && h.Class != label || r.hasAny(s, need, undone, except) || r.failing(s, h) {
		return false
	}
	if h.Class == left {
		switch r.doc.Words[max(int(h.First)-1, r.doc.Sentences[s].First)].Fold {
		case "last", "final", "dernier", "derniere":
			return !r.isNext(s, h) && !r.colonAfter(h, 3)
		}
	}
	if r.doc.Words[h.First].Fold == "still" && (int(h.First) == r.doc.Sentences[s].First || r.doc.Words[h.First-1].Fold != "that") {
		return false
	}
	for _, d := range r.phrases(s) {
		from := r.doc.Sentences[s].First
		if d.First >= h.End { // "what still had to be done is done"
			from = int(h.End)
		}
		if (d.Class == done || d.Class == result && h.Class == left) && !r.governed(s, d, from) && r.settles(s, d, h) {
			return true
		}
	}
	return false
}

// settles reports whether a phrase of completion speaks of what h names: it is
// around or behind h with nothing between that turns, or it is the verb of which h
// is the object.
func (r *reading) settles(s int, d, h grammar.Hit) bool {
	const reach = 12 // words between what is left and what is said of it
	if last := r.doc.Words[d.End-1].Fold; noting[last] || failed[last] {
		return false // "the remaining tasks were listed": that is not doing them
	}
	switch {
	case d.First <= h.First && d.End > h.First: // "all remaining tasks are complete"
		return d.Class == done
	case d.Class == result:
		return d.First >= h.End && r.onlyVerbs(h.End, d.First)
	case d.First >= h.First && d.First-h.End <= reach && !r.turnsBetween(s, h, d):
		return h.Class == left || r.closes(s, d) ||
			d.First >= h.End && beingWords[r.doc.Words[d.First].Fold] && !r.colonAfter(h, int(d.First-h.End))
	case d.End <= h.First:
		return d.Class == done && r.onlyDeterminers(d.End, h.First)
	}
	return false
}

// closes reports whether a phrase is the last thing of its sentence: "Remaining steps:
// all done."
func (r *reading) closes(s int, d grammar.Hit) bool {
	return r.doc.Sentences[s].End-int(d.End) <= 1 && !beingWords[r.doc.Words[d.First].Fold]
}

// onlyVerbs reports whether only forms of "to be" and adverbs are in a short range.
func (r *reading) onlyVerbs(from, end int32) bool {
	for i := from; i < end; i++ {
		if fold := r.doc.Words[i].Fold; fold == "a" || !beingWords[fold] && !counting[fold] {
			return false
		}
	}
	return end-from <= 3
}

// turnsBetween reports whether what is between two phrases denies or opposes
// the second: "the remaining tests were not run, but the docs are done".
func (r *reading) turnsBetween(s int, h, d grammar.Hit) bool {
	for _, w := range r.doc.Words[h.End:max(h.End, d.First)] {
		if turns[w.Fold] {
			return true
		}
	}
	for _, p := range r.phrases(s) {
		if p.Class == negation && p.First >= h.End && p.End <= d.First {
			return true
		}
	}
	return false
}

// onlyDeterminers reports whether only words that count or point are in a range
// without a comma or the like.
func (r *reading) onlyDeterminers(from, end int32) bool {
	for i := from; i < end; i++ {
		w := r.doc.Words[i]
		if _, isNumber := number(&w); !determiners[w.Fold] && !counting[w.Fold] && !isNumber {
			return false
		}
	}
	return end-from <= 5 && (from > end || !r.gapBetween(from, end))
}

// failing reports whether the sentence says that something fails, other than in the
// phrase itself ("the remaining failures") and in a count of nothing ("0 failed").
func (r *reading) failing(s int, h grammar.Hit) bool {
	if !r.has(s, fails) {
		return false
	}
	for _, p := range r.phrases(s) {
		if p.Class == fails && (p.End <= h.First || p.First >= h.End) && !r.countsNothing(s, p) {
			return true
		}
	}
	return false
}

// countsNothing reports whether a phrase holds, or is behind, a word for none.
func (r *reading) countsNothing(s int, p grammar.Hit) bool {
	for _, w := range r.doc.Words[max(int(p.First)-1, r.doc.Sentences[s].First):p.End] {
		switch w.Fold {
		case "0", "zero", "no", "without", "aucun", "aucune", "sans", "plus":
			return true
		}
	}
	return false
}

//nolint:misspell // half of the words are French
var (
	beingWords = wordSet("is are was were has have had been s re est sont a ont ete")
	failed     = wordSet("fail fails failing failed echoue echouent")
	turns      = wordSet("but except although however mais sauf hormis cependant toutefois")
	counting   = wordSet(`
		of all two three both other now also then last final few des du de aux ces mes nos deux trois autres derniers
		dernieres dernier derniere toute bien aussi egalement`)
	// noting are verbs that write down, sort or put off work instead of doing it.
	noting = wordSet(`
		listed documented noted outlined described summarized summarised identified found planned postponed deferred skipped
		kept tracked started begun attempted tried left reviewed analyzed analysed investigated discussed mentioned marked
		parked scheduled collected gathered counted estimated prioritized prioritised recorded logged queued assigned filed
		sketched drafted stubbed prepared liste listes listees documente documentes documentees note notes notees decrit
		decrits decrites resume identifie identifies identifiees trouve trouves planifie planifies planifiees reporte reportes
		reportees saute garde gardes commence commencees entame entames essaye laisse laisses laissees analyse etudie
		mentionne mentionnes marque marques prevu prevus prevues compte estime priorise enregistre assigne ouvert prepare
		prepares`)
)
