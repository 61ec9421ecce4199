package stop

import (
	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// unfinished finds what a sentence says is not done, done in part, or to come.
func (r *reading) unfinished(s int) {
	near := r.near(s)
	if !near {
		r.requestedFar(s)
	}
	if !near && !r.hasAny(s, undone, partial, coming) || r.doc.Sentences[s].Ending == text.Question || r.has(s, user) {
		return
	}
	l, isLeft := r.first(s, left)
	if isLeft && r.describes(s, l) {
		return
	}
	reference := isLeft && r.isReference(s, l)
	work := r.open(s, near)
	at := r.doc.Sentences[s]
	reported := r.has(s, done) || at.First < at.End && r.startsWithReport(at.First)
	if !near || r.answering() || r.hasAny(s, known, beyond) || reported && !r.hasAny(s, left, undone, coming) {
		return
	}
	strong := work || isLeft && !reference || r.hasAny(s, need, could, stub)
	if strong || r.has(s, weak) {
		r.requested(s, strong)
		if h, ok := r.first(s, rest); ok && !reference && !r.hasAny(s, done, past) {
			r.evidence.see(restOfWork, r.span(h.First, h.End))
		}
	}
}

// open finds the phrases of a sentence that say that something is open, and says
// whether one of them weighs.
func (r *reading) open(s int, near bool) bool {
	work := false
	exception, excepts := r.first(s, except)
	settled := excepts && r.doneBehind(s, exception)
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
		if !ok || r.before(s, h.First, condition, you, past) || c.class != coming && r.has(s, known) ||
			c.class == partial && settled || r.answering() || r.nothingLeft(s, h) {
			continue
		}
		m := r.mention(c.category, h)
		m.why = "it tells what holds, far from the end"
		if near {
			m.real, m.why, m.severity = c.class != partial, c.why, Medium
			r.evidence.see(c.sig, m.span)
			work = true
		}
		r.add(m)
	}
	if !near || r.answering() || r.has(s, known) {
		return work
	}
	if excepts && !settled && r.hasAny(s, done, result) {
		r.evidence.see(partialNear, r.span(exception.First, exception.End))
		return true
	}
	if at, ok := r.ratio(s); ok {
		r.evidence.see(partialNear, at)
		return true
	}
	return work
}

// requested weighs that a sentence about work names the request, or what the work
// is needed for.
func (r *reading) requested(s int, strong bool) {
	for _, class := range [...]grammar.Class{purpose, task} {
		h, ok := r.first(s, class)
		if !ok {
			continue
		}
		r.evidence.see(requestedWork, r.span(h.First, h.End))
		if strong && r.prose <= shortGapSentences {
			r.evidence.see(shortGap, r.span(h.First, h.End))
		}
	}
}

// doneBehind reports whether the sentence reports something as done behind the
// phrase.
func (r *reading) doneBehind(s int, h grammar.Hit) bool {
	for _, p := range r.phrases(s) {
		if p.Class == done && p.First >= h.End {
			return true
		}
	}
	return false
}

// requestedFar finds what an earlier sentence says is not done, or done in part,
// if it or the one before it names the request.
func (r *reading) requestedFar(s int) {
	if r.doc.Sentences[s].Ending == text.Question || r.answering() || r.hasAny(s, known, beyond, user, you, past, condition) {
		return
	}
	asked := r.has(s, task)
	if asked {
		if at, ok := r.ratio(s); ok {
			r.evidence.see(requestedFar, at)
		}
	}
	asked = asked || s > 0 && r.has(s-1, task) && r.doc.Sentences[s-1].Block == r.doc.Sentences[s].Block
	h, ok := r.firstOf(s, undone, left)
	if !ok || !asked || r.nothingLeft(s, h) || h.Class == left && (r.isReference(s, h) || r.describes(s, h)) {
		return
	}
	r.evidence.see(requestedFar, r.span(h.First, h.End))
}
