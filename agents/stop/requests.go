package stop

import (
	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// requests finds what the message asks of the user or offers to him.
func (r *reading) requests() {
	for s := range r.sentences {
		if r.sentences[s].classes == 0 || r.after(s) > endingSentences && r.doc.Sentences[s].Ending != text.Question {
			continue
		}
		r.requestIn(s)
	}
}

func (r *reading) requestIn(s int) {
	question := r.doc.Sentences[s].Ending == text.Question
	switch {
	case r.has(s, generic) && !r.hasAny(s, goOn, proceed):
		h, _ := r.first(s, generic)
		r.evidence.see(politeClose, r.span(h.First, h.End))
		return
	case r.has(s, proceed) && question:
		r.request(s, proceed, proceedRequest, "it asks whether to go on with the work")
	case r.hasAny(s, goOn, proceed):
		class := goOn
		if r.has(s, proceed) {
			class = proceed
		}
		r.request(s, class, goOnRequest, "it waits for a go")
	case r.has(s, offers):
		r.request(s, offers, workOffer, "it offers work")
	}
	if h, ok := r.first(s, asks); ok && !r.hasAny(s, goOn, proceed, offers) {
		r.evidence.see(asksInput, r.span(h.First, h.End))
	} else if h, ok := r.first(s, questions); ok && question && !r.hasAny(s, goOn, proceed, offers) {
		r.evidence.see(asksInput, r.span(h.First, h.End))
	}
	if question && (r.choice(s) || r.hasItems(s)) {
		r.evidence.see(offersChoice, r.sentenceSpan(s))
	}
	if h, ok := r.first(s, optional); ok && r.hasAny(s, offers, goOn, proceed, could) {
		r.evidence.see(optionalOffer, r.span(h.First, h.End))
	}
	for _, class := range [...]grammar.Class{you, imperative} {
		if h, ok := r.first(s, class); ok && !question && r.after(s) <= tailSentences+1 && (class == you || r.block(s).Kind == text.Paragraph) {
			r.evidence.see(userActs, r.span(h.First, h.End))
		}
	}
}

func (r *reading) request(s int, class grammar.Class, sig signal, why string) {
	h, _ := r.first(s, class)
	m := r.mention(ConditionalIntentions, h)
	m.form, m.real, m.why, m.severity = offer, true, why, Low
	if r.has(s, rest) && !r.any(beyond) {
		r.evidence.see(restOfWork, m.span)
	}
	if (r.doc.Sentences[s].Ending == text.Question || class == goOn && r.hasAny(s, announce, intends)) && !r.any(beyond) {
		if r.any(task) {
			r.evidence.see(requestedOffer, m.span)
		}
		if r.has(s, deictic) {
			r.evidence.see(deicticOffer, m.span)
		}
	}
	r.evidence.see(sig, m.span)
	r.add(m)
}

// any says whether the message has a phrase of the class.
func (r *reading) any(c grammar.Class) bool { return r.classes>>c&1 != 0 }

// answering says whether the message answers a question, or reports what it was
// asked to look up: what it names is not work of the agent then.
func (r *reading) answering() bool { return r.any(answers) }

// choice says whether the sentence has an "or".
func (r *reading) choice(s int) bool {
	sentence := &r.doc.Sentences[s]
	for _, w := range r.doc.Words[sentence.First:sentence.End] {
		if w.Fold == "or" || w.Fold == "ou" {
			return true
		}
	}
	return false
}

// hasItems says whether the sentence introduces a list.
func (r *reading) hasItems(s int) bool {
	b := r.doc.Sentences[s].Block
	return b+1 < len(r.doc.Blocks) && r.doc.Blocks[b+1].Kind == text.Item
}
