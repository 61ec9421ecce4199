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
	h, offered := r.firstOf(s, proceed, goOn, offers)
	if offered && question && r.before(s, h.First, questions) {
		offered = false
		m := r.mention(ConditionalIntentions, h)
		m.form, m.real, m.why = offer, true, "it asks how to do the work"
		r.add(m)
	}
	switch {
	case r.has(s, generic) && (!offered || h.Class == offers):
		h, _ := r.first(s, generic)
		r.evidence.see(politeClose, r.span(h.First, h.End))
		return
	case !offered:
		if ask, ok := r.first(s, asks); ok {
			r.evidence.see(asksInput, r.span(ask.First, ask.End))
		} else if ask, ok := r.first(s, questions); ok && question {
			r.evidence.see(asksInput, r.span(ask.First, ask.End))
		}
	case h.Class == offers || r.any(beyond):
		r.request(h, workOffer, "it offers work")
	case h.Class == proceed && question:
		r.request(h, proceedRequest, "it asks whether to go on with the work")
	default:
		r.request(h, goOnRequest, "it waits for a go")
	}
	if question && (r.choice(s) || r.hasItems(s)) {
		r.evidence.see(offersChoice, r.sentenceSpan(s))
	}
	if o, ok := r.first(s, optional); ok && (offered || r.has(s, could)) {
		r.evidence.see(optionalOffer, r.span(o.First, o.End))
	}
	r.instructions(s)
}

// instructions finds the instructions to the user at the end of the message.
func (r *reading) instructions(s int) {
	if r.doc.Sentences[s].Ending == text.Question || r.after(s) > tailSentences+1 {
		return
	}
	if h, ok := r.first(s, you); ok {
		r.evidence.see(userActs, r.span(h.First, h.End))
	}
	if h, ok := r.first(s, imperative); ok && r.block(s).Kind == text.Paragraph {
		r.evidence.see(userActs, r.span(h.First, h.End))
	}
}

// firstOf returns the first phrase of the first of the classes that the sentence has.
func (r *reading) firstOf(s int, cs ...grammar.Class) (grammar.Hit, bool) {
	for _, c := range cs {
		if h, ok := r.first(s, c); ok {
			return h, true
		}
	}
	return grammar.Hit{}, false
}

func (r *reading) request(h grammar.Hit, sig signal, why string) {
	s := int(h.Sentence)
	m := r.mention(ConditionalIntentions, h)
	m.form, m.real, m.why = offer, true, why
	r.evidence.see(sig, m.span)
	r.add(m)
	if r.any(beyond) {
		return
	}
	if r.has(s, rest) {
		r.evidence.see(restOfWork, m.span)
	}
	question := r.doc.Sentences[s].Ending == text.Question
	if r.any(task) && (question || h.Class == goOn && r.hasAny(s, announce, intends)) {
		r.evidence.see(requestedOffer, m.span)
	}
	if question && r.has(s, deictic) {
		r.evidence.see(deicticOffer, m.span)
	}
}

// any reports whether the message has a phrase of the class.
func (r *reading) any(c grammar.Class) bool { return r.classes>>c&1 != 0 }

// answering reports whether the message answers a question, or reports what it was
// asked to look up: what it names is not work of the agent then.
func (r *reading) answering() bool { return r.any(answers) }

// choice reports whether the sentence has an "or".
func (r *reading) choice(s int) bool {
	sentence := &r.doc.Sentences[s]
	for _, w := range r.doc.Words[sentence.First:sentence.End] {
		if w.Fold == "or" || w.Fold == "ou" {
			return true
		}
	}
	return false
}

// hasItems reports whether the sentence introduces a list.
func (r *reading) hasItems(s int) bool {
	b := r.doc.Sentences[s].Block
	return b+1 < len(r.doc.Blocks) && r.doc.Blocks[b+1].Kind == text.Item
}
