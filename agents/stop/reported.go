package stop

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// report returns the first phrase of a sentence that reports something as done.
// A phrase of completion does not report if a condition, an instruction, a modal
// verb, a negation or a relative pronoun governs it: "once CI is green", "verify
// that all tests pass", "must be done", "the fields that were added".
func (r *reading) report(s int) (grammar.Hit, bool) {
	if r.has(s, done) {
		for _, h := range r.phrases(s) {
			if h.Class == done && !r.governed(s, h, r.doc.Sentences[s].First) {
				return h, true
			}
		}
	}
	return grammar.Hit{}, false
}

// governed reports whether the clause of a phrase of completion makes it a
// condition, an aim or a denial. Only words from the one given on govern it.
func (r *reading) governed(s int, h grammar.Hit, from int) bool {
	clause := r.clauseOf(s, int(h.First))
	from = max(from, clause)
	if from == clause && r.instructs(from, h) {
		return true
	}
	words := r.doc.Words
	told := r.startsWithReport(from)
	for i := from; i < int(h.First); i++ {
		if opensCondition(words, i) || relatives[words[i].Fold] && !told {
			return true
		}
	}
	const reach = 3 // words between a modal verb or a negation and what it governs
	for i := max(from, int(h.First)-reach); i < int(h.End); i++ {
		aimed := modals[words[i].Fold] && (i == 0 || !prepared[words[i-1].Fold]) // not "ready to merge"
		if aimed || i != int(h.First) && r.denies(i) {
			return true
		}
	}
	return false
}

// clauseOf returns the word that begins the clause of a word.
func (r *reading) clauseOf(s, word int) int {
	for i := word; i > r.doc.Sentences[s].First; i-- {
		if f := r.doc.Words[i].Flags; f&(text.AfterGap|text.AfterLine) == text.AfterGap {
			return i
		}
	}
	return r.doc.Sentences[s].First
}

// instructs reports whether a clause begins with an instruction of which the
// phrase of completion is the aim: "get the tests to pass", "faire passer …".
// A word that may be a verb or a noun ("build", "release") is a noun right before the phrase.
func (r *reading) instructs(from int, h grammar.Hit) bool {
	i := r.firstVerb(from, int(h.End))
	if i < 0 {
		return false
	}
	next := i + 1
	if next >= int(h.End) && next < len(r.doc.Words) && h.First == int32(i) {
		// "Complete the guide": the phrase is the verb itself.
		return r.doc.Words[i].Fold == "complete" && next < r.doc.Sentences[h.Sentence].End && r.doc.Words[next].Flags&text.AfterGap == 0
	}
	return int(h.First) > next || aims[r.doc.Words[i].Fold] || determiners[r.doc.Words[next].Fold]
}

// firstVerb returns the verb that a clause begins with in the imperative or infinitive, -1 if it begins otherwise.
func (r *reading) firstVerb(from, end int) int {
	words := r.doc.Words
	for i := from; i < end; i++ {
		w := words[i]
		switch {
		case w.Flags&text.Digits != 0 || ordering[w.Fold]:
		case aims[w.Fold] || begins(w):
			return i
		default:
			return -1
		}
	}
	return -1
}

// startsWithReport reports whether a clause begins with a past participle that
// says what was done: "Verified that …".
func (r *reading) startsWithReport(from int) bool {
	g, w := lexicon(), r.doc.Words[from]
	return g.Sets(w.ID)&g.Set("en.did") != 0 && !begins(w)
}

// denies reports whether a word denies what follows; "no longer" and "not only" do not.
func (r *reading) denies(i int) bool {
	if i+1 < len(r.doc.Words) {
		switch r.doc.Words[i+1].Fold {
		case "longer", "only", "seulement":
			return false
		}
	}
	return denials[r.doc.Words[i].Fold]
}

// finishedItem reports whether an item says of itself that it is done. An item that
// begins with an instruction is a step, unless its status is behind it: "Write
// the guide (done)".
func (r *reading) finishedItem(item *text.Block) bool {
	if item.Box == text.Ticked {
		return true
	}
	if item.End == item.First {
		return false
	}
	s := item.First
	if r.hasAny(s, left, need, fails) {
		return false
	}
	h, ok := r.report(s)
	if !ok {
		return false
	}
	at := r.doc.Sentences[s]
	task := r.firstVerb(at.First, at.End)
	if task < 0 || h.First <= int32(task)+1 && !aims[r.doc.Words[task].Fold] {
		return true
	}
	return statuses[r.doc.Words[h.First].Fold] && r.clauseOf(s, int(h.First)) == int(h.First)
}

// ownAim reports whether an item begins with an aim that is addressed to nobody:
// "make sure that all tests pass" in the agent's own list is a step of its own.
func (r *reading) ownAim(s int) bool {
	at := r.doc.Sentences[s]
	return at.First < at.End && aims[r.doc.Words[at.First].Fold] && !r.before(s, int32(at.End), user) && r.countOf(s, you) == 1
}

// countOf counts the phrases of a class in a sentence.
func (r *reading) countOf(s int, c grammar.Class) int {
	n := 0
	for _, h := range r.phrases(s) {
		if h.Class == c {
			n++
		}
	}
	return n
}

// opensCondition reports whether a word, with the one behind it, begins a condition.
func opensCondition(words []text.Word, i int) bool {
	fold := words[i].Fold
	if conditionWords[fold] {
		return true
	}
	if i+1 >= len(words) {
		return false
	}
	next := words[i+1].Fold
	switch fold {
	case "as":
		return next == "soon" || next == "long"
	case "des":
		return next == "que" || next == "qu"
	case "une":
		return next == "fois"
	case "s":
		return next == "il" || next == "ils"
	case "subject":
		return next == "to"
	case "pending":
		return next == "your" || next == "the" || next == "approval" || next == "review" || next == "confirmation"
	case "sous":
		return next == "reserve"
	}
	return false
}

// wordSet returns the set of the folded words in a text.
func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

var (
	conditionWords = wordSet(`
		once after when whenever until till unless if before provided whether assuming upon apres quand lorsque lorsqu si
		jusqu tant avant`)
	relatives = wordSet("that which who whose qui que qu dont")
	modals    = wordSet(`
		must should will ll would shall can could may might to ought doit doivent devra devront devrait devraient sera seront
		serait seraient faut`)
	prepared    = wordSet("ready good prepared prets pret thanks due")
	denials     = wordSet("not never t pas ne jamais nor ni")
	determiners = wordSet(`
		the a an all that this these those every each both any my our its le la les l un une tous toutes tout que qu chaque`)
	// ordering words precede the verb of a step.
	ordering = wordSet(`
		then next first finally also lastly now please and puis ensuite enfin d abord et s se`)
	// aims are verbs that are never nouns and mostly have another verb as their aim.
	aims = wordSet(`
		get make ensure confirm verify wait keep see let assurer faire obtenir attendre veiller laisser verifier controler`)
	statuses = wordSet(`
		done complete completed finished fixed implemented merged shipped deployed resolved ok already fait faite termine
		terminee corrige corrigee livre regle resolu`)
)
