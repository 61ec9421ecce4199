package stop

import (
	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// state finds what the message says of the work: done, failing, standing in.
func (r *reading) state() {
	for s := range r.sentences {
		if r.sentences[s].classes == 0 {
			continue
		}
		if h, ok := r.first(s, fails); ok && !r.has(s, negation) {
			if r.has(s, known) {
				r.evidence.see(knownFailures, r.span(h.First, h.End))
			} else if r.after(s) <= 20 {
				r.evidence.see(failuresLeft, r.span(h.First, h.End))
			}
		}
		if h, ok := r.first(s, stub); ok {
			r.evidence.see(stubsLeft, r.span(h.First, h.End))
		}
		if h, ok := r.first(s, done); ok && (s < 2 || r.after(s) <= tailSentences) && !r.hasAny(s, left, condition) {
			r.evidence.see(completed, r.span(h.First, h.End))
		}
		r.obligations(s)
		r.unfinished(s)
	}
}

// unfinished finds what a sentence says is not done, done in part, or to come.
func (r *reading) unfinished(s int) {
	if r.doc.Sentences[s].Ending == text.Question || r.has(s, user) {
		return
	}
	work := false
	for _, c := range [...]struct {
		class    grammar.Class
		sig      signal
		category Category
		why      string
	}{
		{undone, undoneNear, RemainingTasks, "it says that something is not done"},
		{partial, partialNear, RemainingTasks, "it says that a part is done"},
		{coming, comingNear, FutureActions, "it says what will be done"},
	} {
		h, ok := r.first(s, c.class)
		if !ok || r.before(s, h.First, condition, you, document) || r.has(s, known) {
			continue
		}
		m := r.mention(c.category, h)
		m.why = "it tells what holds, far from the end"
		if r.near(s) {
			m.real, m.why, m.severity = c.class != partial, c.why, Medium
			r.evidence.see(c.sig, m.span)
			work = true
		}
		r.add(m)
	}
	work = work || r.hasAny(s, left, need, could, later, weak)
	if !work || !r.near(s) {
		return
	}
	if h, ok := r.first(s, task); ok {
		r.evidence.see(requestedWork, r.span(h.First, h.End))
	}
	if h, ok := r.first(s, rest); ok {
		r.evidence.see(restOfWork, r.span(h.First, h.End))
	}
}

// obligations finds what must or could be done, now or later.
func (r *reading) obligations(s int) {
	question := r.doc.Sentences[s].Ending == text.Question
	if h, ok := r.first(s, need); ok && !question {
		m := r.mention(RemainingTasks, h)
		m.why = "it tells what holds, far from the end"
		if r.after(s) <= endingSentences && !r.before(s, h.First, condition, you) {
			m.real, m.severity, m.why = true, Medium, "it says what must be done"
			if r.after(s) <= tailSentences && !r.has(s, user) {
				r.evidence.see(needTail, m.span)
			} else {
				r.evidence.see(needSentence, m.span)
			}
		}
		r.add(m)
	}
	if h, ok := r.first(s, could); ok && !question {
		m := r.mention(ConditionalIntentions, h)
		m.real, m.severity, m.why = true, Low, "it says what could be done"
		r.evidence.see(couldDo, m.span)
		r.add(m)
	}
	if h, ok := r.first(s, later); ok && !question {
		m := r.mention(FutureActions, h)
		m.why = "it tells an order of events"
		if r.hasAny(s, announce, present, need, could, left, offers, undone) {
			m.real, m.severity, m.why = true, Low, "it puts work off"
			r.evidence.see(laterWork, m.span)
		}
		r.add(m)
	}
}
