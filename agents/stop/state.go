package stop

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// state finds what the message says of the work: done, failing, or replaced by a placeholder.
func (r *reading) state() {
	for s := range r.sentences {
		if r.sentences[s].classes == 0 {
			if r.near(s) {
				r.unfinished(s)
			}
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
		if h, ok := r.first(s, done); ok && (s < 2 || r.after(s) <= tailSentences) && !r.hasAny(s, left, condition, goOn) {
			r.evidence.see(completed, r.span(h.First, h.End))
		}
		h, ok := r.first(s, closed)
		if ok && !r.hasAny(s, negation, left, need, undone, condition) && r.doc.Sentences[s].Ending != text.Question {
			r.evidence.see(unitClosed, r.span(h.First, h.End))
		}
		r.obligations(s)
		r.unfinished(s)
	}
}

// obligations finds what must or could be done, now or later.
func (r *reading) obligations(s int) {
	question := r.doc.Sentences[s].Ending == text.Question
	if h, ok := r.first(s, need); ok && !question {
		m := r.mention(RemainingTasks, h)
		m.why = "it tells what holds"
		if r.after(s) <= endingSentences && !r.answering() && !r.before(s, h.First, condition, you) && !r.behind(s, h, document) {
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
		l, isLeft := r.first(s, left)
		if (!isLeft || !r.isReference(s, l)) && r.beside(s, h, announce, present, need, could, left, undone) &&
			!r.hasAny(s, user, offers, you, condition) {
			m.real, m.severity, m.why = true, Low, "it puts work off"
			r.evidence.see(laterWork, m.span)
		}
		r.add(m)
	}
}

// numbers are small numbers as words.
var numbers = map[string]int{
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "sept": 7, "huit": 8,
	"neuf": 9, "dix": 10, "onze": 11, "douze": 12,
}

// ratio finds a part of a whole that is not all of it: "9 of the 14 types", "40
// fichiers sur 65", "3/7", "70 % complete".
func (r *reading) ratio(s int) (Span, bool) {
	words := r.doc.Words[r.doc.Sentences[s].First:r.doc.Sentences[s].End]
	for i := range words {
		part, ok := number(&words[i])
		ok = ok && (i == 0 || words[i].Flags&text.Digits == 0 || words[i-1].Flags&text.Digits == 0) // "4,000"
		if ok && part < 100 && i+1 < len(words) && finishedWord[words[i+1].Fold] &&
			strings.Contains(excerptOf(r.doc.Raw, text.Span{Start: words[i].End, End: words[i+1].Start}), "%") {
			return Span{words[i].Start, words[i+1].End}, true
		}
		of := false
		for k := i + 1; ok && k < len(words) && k <= i+4; k++ {
			of = of || words[k].Fold == "of" || words[k].Fold == "sur" || words[k].Fold == "des" ||
				k == i+1 && excerptOf(r.doc.Raw, text.Span{Start: words[i].End, End: words[k].Start}) == "/"
			whole, isNumber := number(&words[k])
			if isNumber && of && part < whole {
				return Span{words[i].Start, words[k].End}, true
			}
			ok = !isNumber
		}
	}
	return Span{}, false
}

// finishedWord are words whose progress a percentage measures.
var finishedWord = wordSet("complete completed done finished converted migrated there")

func number(w *text.Word) (int, bool) {
	if w.Flags&text.Digits != 0 && len(w.Fold) < 7 {
		n, err := strconv.Atoi(w.Fold)
		return n, err == nil
	}
	n, ok := numbers[w.Fold]
	return n, ok
}

// beside reports whether a phrase of one of the classes is within a few words.
func (r *reading) beside(s int, h grammar.Hit, cs ...grammar.Class) bool {
	const reach = 12
	for _, p := range r.phrases(s) {
		if slices.Contains(cs, p.Class) && p.First-h.End <= reach && h.First-p.End <= reach {
			return true
		}
	}
	return false
}
