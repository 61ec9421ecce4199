package stop

import (
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// How near the end of the message a sentence must be: at its tail, or in the
// part that requests to the user are in.
const (
	tailSentences   = 2
	endingSentences = 6
	shortMessage    = 4
)

// announcements finds the actions that the agent announces.
func (r *reading) announcements() {
	for s := range r.sentences {
		if r.sentences[s].classes == 0 {
			continue
		}
		r.announced(s)
		r.promises(s)
	}
}

// announced judges the first announcement of a sentence.
func (r *reading) announced(s int) {
	h, class, ok := r.announcement(s)
	if p, promised := r.first(s, promise); !ok || promised && p.First <= h.First {
		return
	}
	m := r.mention(FutureActions, h)
	if !r.dismissed(&m, s, h, class) {
		m.real = true
		r.weigh(&m, s, h, class)
		if r.prose <= shortMessage {
			r.evidence.see(announceShort, m.span)
		}
	}
	r.add(m)
}

// dismissed says of an announcement that is none, or that only the user can set
// off, and why.
func (r *reading) dismissed(m *mention, s int, h grammar.Hit, class grammar.Class) bool {
	delivered := r.delivered(m.block)
	switch {
	case class == present && r.narrated(s, h):
		m.why = "it tells what always holds"
	case r.behind(s, h, history): // "from now on I'll"
		m.why = "it tells what will always hold"
	case class == talks && (r.after(s) > 0 || delivered || r.explains(s, h)):
		m.why = "it introduces what it goes on to say"
	case r.upToUser(s, h):
		m.real, m.form, m.why = true, offer, "it depends on the user"
		if r.hasAny(s, task, purpose) && !r.any(beyond) && r.near(s) {
			r.evidence.see(goOnRequest, m.span)
			r.evidence.see(requestedOffer, m.span)
		}
	case r.before(s, h.First, waiting) || r.after(s) == 0 && (!delivered || r.doc.Sentences[s].Ending != text.Colon):
		return false // whatever is before it
	case delivered || r.doneAfter(s, r.verifies(h)):
		m.why = "the rest of the message reports or holds what it announces"
	default:
		return false
	}
	return true
}

// narrated reports whether the clause of the phrase describes the past or what is always true.
func (r *reading) narrated(s int, h grammar.Hit) bool {
	if !r.has(s, history) {
		return false
	}
	for _, p := range r.phrases(s) {
		if p.Class == history && (p.First >= h.First || !r.gapBetween(p.End, h.First)) {
			return true
		}
	}
	return false
}

// behind reports whether the phrase directly follows one of the class.
func (r *reading) behind(s int, h grammar.Hit, c grammar.Class) bool {
	for _, p := range r.phrases(s) {
		if p.Class == c && p.End == h.First {
			return true
		}
	}
	return false
}

// explains reports whether the sentence itself continues after a colon.
func (r *reading) explains(s int, h grammar.Hit) bool {
	return r.doc.Sentences[s].Ending != text.Colon && r.colonAfter(h, r.doc.Sentences[s].End-int(h.End)-1)
}

// weigh judges an announcement by its distance from the end of the message.
func (r *reading) weigh(m *mention, s int, h grammar.Hit, class grammar.Class) {
	after := r.after(s)
	late, tail := announceFinal, announceTail
	if class == present {
		late, tail = presentTail, presentTail
	}
	switch {
	case r.before(s, h.First, waiting) && after <= endingSentences:
		m.why, m.severity = "an agent that has stopped does not come back", Critical
		r.evidence.see(promised, m.span)
	case after == 0:
		m.why, m.severity = "the message ends with it", Critical
		r.evidence.see(late, m.span)
		if e := r.doc.Sentences[s].Ending; e == text.Colon || e == text.Ellipsis {
			r.evidence.see(endsOpen, m.span)
		}
	case after <= tailSentences:
		m.why, m.severity = "nothing after it carries it out", High
		r.evidence.see(tail, m.span)
	default:
		m.why, m.severity = "nothing after it reports it as done", Medium
		if class != present {
			r.evidence.see(announceEarly, m.span)
		}
	}
}

// opens reports whether a phrase is the first thing of its sentence, numbers apart.
func (r *reading) opens(s *text.Sentence, h grammar.Hit) bool {
	for i := s.First; i < int(h.First); i++ {
		if r.doc.Words[i].Flags&text.Digits == 0 {
			return false
		}
	}
	return true
}

// upToUser reports whether the sentence makes what the phrase announces depend on
// the user.
func (r *reading) upToUser(s int, h grammar.Hit) bool {
	return r.has(s, user) || r.before(s, h.First, condition, offers, goOn, proceed, optional, asks, you, imperative)
}

// announcement returns the phrase of a sentence that announces an action, and its
// class; questions announce nothing.
func (r *reading) announcement(s int) (grammar.Hit, grammar.Class, bool) {
	sentence := &r.doc.Sentences[s]
	if sentence.Ending == text.Question || r.block(s).Kind == text.Table {
		return grammar.Hit{}, 0, false
	}
	if h, ok := r.first(s, announce); ok {
		return h, announce, true
	}
	for _, h := range r.phrases(s) {
		switch h.Class {
		case intends:
			if r.isWork(h) {
				return h, announce, true
			}
		case present, talks:
			return h, h.Class, true
		}
	}
	open := sentence.Ending == text.Colon || sentence.Ending == text.Ellipsis
	for _, class := range [...]grammar.Class{doing, selfimp} {
		h, ok := r.first(s, class)
		french := ok && class == selfimp && lexicon().Patterns[h.Pattern].Lang == french
		ok = ok && (open || french || r.commands(h)) && (class != doing || r.opens(sentence, h))
		if ok && r.after(s) == 0 && !r.delivered(sentence.Block) {
			return h, class, true
		}
	}
	return grammar.Hit{}, 0, false
}

// commands reports whether the whole message is a verb and a command: "Running `go test`".
func (r *reading) commands(h grammar.Hit) bool {
	end := r.doc.Sentences[h.Sentence].End
	return r.prose == 1 && int(h.End)+1 == end && r.doc.Words[h.End].Flags&text.Opaque != 0
}

// isWork reports whether the last word of a phrase that ends with any verb is not
// one of state ("I'll be", "je vais devoir") or of speech.
func (r *reading) isWork(h grammar.Hit) bool {
	w := r.doc.Words[h.End-1]
	if lexicon().Sets(w.ID)&noWork() != 0 {
		return false
	}
	ending, ok := futures[r.doc.Words[h.First].Fold]
	if !ok || going[r.doc.Words[h.First+1].Fold] {
		return true
	}
	return strings.HasSuffix(w.Fold, ending) && len(w.Fold) > len(ending)+2 && !idle[w.Fold]
}

// futures are the endings of the French future after a subject: a verb that no
// list knows is still one.
var futures = map[string]string{"je": "rai", "j": "rai", "nous": "rons", "on": "ra"}

// going are the forms of aller that make a future with the verb that follows.
var going = wordSet("vais va allons")

// idle are futures of verbs that no work follows from.
var idle = wordSet(`
		serai aurai verrai saurai voudrai pourrai devrai serons aurons verrons saurons pourrons devrons sera aura verra saura
		pourra devra faudra dira`)

var noWork = sync.OnceValue(func() uint64 {
	g := lexicon()
	return g.Set("en.state") | g.Set("en.talk") | g.Set("en.adv") | g.Set("fr.state") | g.Set("fr.talk") | g.Set("fr.adv") | g.Set("fr.pron")
})

// promises finds promises to come back and work that still runs.
func (r *reading) promises(s int) {
	if h, ok := r.first(s, promise); ok && r.doc.Sentences[s].Ending != text.Question {
		m := r.mention(FutureActions, h)
		m.real, m.severity, m.why = true, Critical, "an agent that has stopped does not come back"
		if r.upToUser(s, h) {
			m.form, m.severity, m.why = offer, Low, "it depends on the user"
		} else if r.after(s) <= endingSentences {
			r.evidence.see(promised, m.span)
			if r.prose <= shortMessage {
				r.evidence.see(announceShort, m.span)
			}
		}
		r.add(m)
	}
	if h, ok := r.first(s, waiting); ok && r.after(s) <= endingSentences {
		r.evidence.see(waits, r.span(h.First, h.End))
	}
}

// verifies reports whether what is announced is a check: only a result carries it out.
func (r *reading) verifies(h grammar.Hit) bool {
	w := r.doc.Words[h.End-1]
	return lexicon().Sets(w.ID)&checks() != 0
}

var checks = sync.OnceValue(func() uint64 {
	return lexicon().Set("en.verify") | lexicon().Set("fr.verify")
})

// doneAfter reports whether a later sentence reports something as done, or the
// result of a check.
func (r *reading) doneAfter(s int, check bool) bool {
	if check {
		return r.lastResult > s
	}
	return r.lastDone > s
}
