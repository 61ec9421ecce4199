package stop

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Done returns for each of some steps whether an answer reports it as done. A step
// that the answer does not name is not done: silence, "all good" and a question are
// no evidence. A sentence is evidence if it reports something as done, does not deny
// it, and has the step's verb, or one of its kind, with most of what it is done to; so
// is an item "2. Done", which answers the second step, and "all three steps are done".
func Done(steps []string, answer string) []bool {
	reported := make([]bool, len(steps))
	if len(steps) == 0 {
		return reported
	}
	r := readings.Get().(*reading)
	defer readings.Put(r)
	r.read(answer)
	contents := make([][]string, len(steps))
	for i, step := range steps {
		contents[i] = contentWords(step)
	}
	for s := range r.sentences {
		if !r.reportsWork(s) {
			continue
		}
		if n := r.numbered(s); n > 0 && n <= len(steps) {
			reported[n-1] = true
		}
		universal := r.universal(s)
		for _, said := range r.affirmed(s) {
			for i := range steps {
				reported[i] = reported[i] || universal || names(contents[i], said)
			}
		}
	}
	return reported
}

// Executed counts the steps that an answer reports as done; see Done.
func Executed(steps []string, answer string) int {
	n := 0
	for _, is := range Done(steps, answer) {
		if is {
			n++
		}
	}
	return n
}

// reportsWork reports whether a sentence reports work as done, in any form.
func (r *reading) reportsWork(s int) bool {
	sentence, b := r.doc.Sentences[s], r.block(s)
	if sentence.Ending == text.Question || sentence.End == sentence.First || r.hasAny(s, left, need, undone, announce, could, offers) {
		return false
	}
	if _, ok := r.report(s); ok || b.Box == text.Ticked || r.startsWithReport(sentence.First) || r.ledByReport(b) {
		return true
	}
	for _, h := range r.phrases(s) {
		if h.Class == result && !r.has(s, fails) && !r.governed(s, h, sentence.First) {
			return true
		}
	}
	return r.passive(s)
}

// ledByReport reports whether a block is an item of a list that is introduced as done.
func (r *reading) ledByReport(b *text.Block) bool {
	if b.Kind != text.Item || b.Lead < 0 {
		return false
	}
	lead := &r.doc.Blocks[b.Lead]
	if lead.End == lead.First {
		return false
	}
	_, ok := r.report(lead.End - 1)
	return ok && !r.hasAny(lead.End-1, left, undone, need)
}

// passive reports whether a sentence has a form of "to be" with a participle that
// nothing governs: "the tests are written".
func (r *reading) passive(s int) bool {
	g, at := lexicon(), r.doc.Sentences[s]
	participles := g.Set("en.did") | g.Set("fr.part")
	for i := at.First; i+1 < at.End; i++ {
		k := i + 1
		if ordering[r.doc.Words[k].Fold] || counting[r.doc.Words[k].Fold] {
			k++
		}
		if k < at.End && beingWords[r.doc.Words[i].Fold] && (g.Sets(r.doc.Words[k].ID)&participles != 0 || r.looksDone(k)) &&
			!r.governed(s, grammar.Hit{Sentence: int32(s), First: int32(i), End: int32(k + 1)}, at.First) {
			return true
		}
	}
	return false
}

// looksDone reports whether a word that no list knows has the ending of a participle:
// "rejected", "rejetées".
func (r *reading) looksDone(word int) bool {
	const shortest = 5
	w := r.doc.Words[word]
	raw := strings.TrimRight(strings.ToLower(r.doc.Raw[w.Start:w.End]), "es")
	return len(w.Fold) >= shortest && (strings.HasSuffix(w.Fold, "ed") || strings.HasSuffix(raw, "é"))
}

// numbered returns the number of an item that only reports its step as done.
func (r *reading) numbered(s int) int {
	at, b := r.doc.Sentences[s], r.block(s)
	if b.Kind != text.Item || !b.Ordered || b.First != s || !statuses[r.doc.Words[at.First].Fold] {
		return 0
	}
	return b.Number
}

// universal reports whether a sentence reports all steps as done.
func (r *reading) universal(s int) bool {
	const reach = 5
	if _, ok := r.report(s); !ok || r.hasAny(s, except, partial) {
		return false
	}
	at := r.doc.Sentences[s]
	for i := at.First; i < at.End; i++ {
		if !wholes[r.doc.Words[i].Fold] {
			continue
		}
		for _, w := range r.doc.Words[i+1 : min(i+1+reach, at.End)] {
			if _, isNumber := number(&w); stepNouns[w.Fold] || isNumber && w.Flags&text.Digits == 0 {
				return true
			}
		}
	}
	return false
}

// affirmed returns the words of the parts of a sentence that deny nothing, folded. A part
// ends at "but" and the like; a denial behind a colon, a semicolon, a dash or a bracket
// reaches no further back.
func (r *reading) affirmed(s int) [][]string {
	const most = 200 // words
	at := r.doc.Sentences[s]
	var parts [][]string
	var part, piece []string
	denied := false
	endPiece := func() {
		if !denied {
			part = append(part, piece...)
		}
		piece, denied = nil, false
	}
	endPart := func() {
		endPiece()
		if len(part) > 0 {
			parts = append(parts, part)
		}
		part = nil
	}
	for i := at.First; i < min(at.End, at.First+most); i++ {
		w := r.doc.Words[i]
		if turns[w.Fold] {
			endPart()
			continue
		}
		if w.Flags&text.AfterGap != 0 && i > at.First && strings.ContainsAny(r.doc.Raw[r.doc.Words[i-1].End:w.Start], ";:—–(") {
			endPiece()
		}
		denied = denied || r.denies(i)
		if w.Fold == "" {
			piece = append(piece, contentWords(r.doc.Raw[w.Start:w.End])...)
			continue
		}
		piece = append(piece, w.Fold)
	}
	endPart()
	return parts
}

// names reports whether a part of a report names a step.
func names(step, said []string) bool {
	if len(step) == 0 {
		return false
	}
	if all := sharedWords(step, said); len(step) > 1 && 3*all >= 2*len(step) {
		return true
	}
	verb, objects := step[:1], step[1:]
	if len(objects) == 0 {
		return slices.ContainsFunc(said, func(w string) bool { // "Doc" is short for "document"
			return relatedWords(verb[0], w) || len(verb[0]) > 2 && strings.HasPrefix(w, verb[0])
		})
	}
	n := sharedWords(objects, said)
	return n > 0 && 2*n >= len(objects) && (sharedWords(verb, said) == 1 || sameKind(verb[0], said))
}

// sameKind reports whether a report has a verb of the same kind of work, says of its
// subject that it is done, or, for a check, gives the result.
func sameKind(verb string, said []string) bool {
	want := makes(kindOfVerb(verb))
	for _, w := range said {
		if statuses[w] && w != "ok" || want == check && passing[w] || want != other && makes(kindOfVerb(w)) == want {
			return true
		}
	}
	return false
}

// makes returns the same kind for all work on code: an agent that was to write a thing reports
// that it added it.
func makes(k kind) kind {
	if k == edit || k == rebuild {
		return create
	}
	return k
}

var (
	wholes    = wordSet("all both every each everything tous toutes tout chaque")
	stepNouns = wordSet(`
		step steps task tasks item items todo todos point points it them list etape etapes tache taches liste elements`)
	passing = wordSet(`
		pass passes passed passing green succeed succeeds succeeded passent passe vert verts reussi reussis reussissent`)
)
