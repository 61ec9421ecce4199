package session

import (
	"slices"
	"strconv"
	"strings"
)

// maxChoiceRead is the number of bytes of an answer in which a choice is looked for.
const maxChoiceRead = 2 << 10

// choose returns the option that an answer chooses, and false if the choice is not clear. A letter
// at the start of the answer is the choice. Otherwise choose weighs the options that the answer
// names without rejecting them. An answer that names no option may give its place ("the first").
func (o options) choose(text string) (int, bool) {
	text = marks.Replace(text[:min(len(text), maxChoiceRead)])
	ws := o.words(text)
	r := o.read(text, ws)
	if len(r.found) == 0 {
		r = o.byPlace().read(text, ws)
	}
	if len(r.found) == 0 {
		return 0, false
	}
	if first := r.found[0]; first.letter && !first.negated {
		return first.option, !contradicted(first, r.found[1:], ws)
	}
	r.compareShares()
	return r.weigh()
}

// marks replaces signs that stand for words.
var marks = strings.NewReplacer(" > ", " plutôt que ", ">>", " plutôt que ", "…", "... ")

// words returns the words of an answer without hesitations, and with typing errors in keys corrected.
func (o options) words(text string) []word {
	all := words(text)
	kept := all[:0]
	gap := false
	for _, w := range all {
		if hesitations.at([]word{w}) > 0 {
			gap = gap || w.gap
			continue
		}
		w.gap, gap = w.gap || gap, false
		w.folded = o.corrected(w.folded)
		kept = append(kept, w)
	}
	return kept
}

// contradicted reports whether a letter is followed by another letter or by the name of another
// option: "A. Films".
func contradicted(letter mention, rest []mention, ws []word) bool {
	for _, m := range rest {
		if m.option == letter.option || m.negated {
			continue
		}
		between := ws[letter.end:m.start]
		if m.letter || endsClause(ws, m.end-1) && len(between) == articles.at(between) {
			return true
		}
	}
	return false
}

// compareShares compares percentages: "70 % series, 30 % films".
func (r *reading) compareShares() {
	for i := range r.found {
		m := &r.found[i]
		if m.start == 0 || !strings.HasPrefix(strings.TrimSpace(r.text[r.words[m.start-1].end:]), "%") {
			continue
		}
		n, err := strconv.Atoi(r.words[m.start-1].folded)
		m.preferred, m.weak = err == nil && n > 50, err == nil && n < 50
	}
}

// weigh returns the option of the last mention to which the answer turns; or else the only one that is named and never
// rejected; of several, the only one that is preferred, or the one that begins the answer by itself; and if one of two
// is rejected, the other.
func (r *reading) weigh() (int, bool) {
	named, rejected, preferred := make([]int, r.count), make([]int, r.count), make([]int, r.count)
	turned := noWord
	for _, m := range r.found {
		switch {
		case m.weak:
		case m.negated:
			rejected[m.option]++
			if turned == m.option {
				turned = noWord
			}
		case m.joined:
			named[m.option]++
		default:
			named[m.option]++
			if m.preferred {
				preferred[m.option]++
			}
			if m.turned {
				turned = m.option
			}
		}
	}
	var open, liked, out []int
	for i := range r.count {
		switch {
		case rejected[i] > 0 && named[i] == 0:
			out = append(out, i)
		case rejected[i] > 0:
		case named[i] > 0:
			open = append(open, i)
			if preferred[i] > 0 {
				liked = append(liked, i)
			}
		}
	}
	switch {
	case turned != noWord:
		return turned, true
	case len(liked) == 1:
		return liked[0], true
	case len(open) == 1:
		return open[0], !r.weighsBoth() || slices.ContainsFunc(r.found, func(m mention) bool { return m.option == open[0] && r.fillsClause(m) })
	case len(open) > 1 && r.standsAlone(r.found[0]):
		return r.found[0].option, true
	case r.count == 2 && len(open) == 0 && len(out) == 1 && !r.weighsBoth():
		return 1 - out[0], true
	}
	return 0, false
}

// weighsBoth reports whether an answer treats the options alike, or wants none of them.
func (r *reading) weighsBoth() bool {
	for i := range r.words {
		if boths.at(r.words[i:]) > 0 {
			return true
		}
	}
	return false
}

// standsAlone reports whether the first mention is the first clause of an answer that does not weigh both options:
// "Films. A series takes too long."
func (r *reading) standsAlone(m mention) bool {
	if m.negated || m.weak || m.joined || !r.fillsClause(m) || r.weighsBoth() {
		return false
	}
	for i := range m.start {
		if articles.at(r.words[i:m.start]) == 0 && openers.at(r.words[i:m.start]) == 0 {
			return false
		}
	}
	next := slices.IndexFunc(r.found, func(other mention) bool { return other.option != m.option })
	if next < 0 || !endsClause(r.words, r.found[next].end-1) {
		return true
	}
	between := r.words[m.end:r.found[next].start]
	return slices.ContainsFunc(between, func(w word) bool { return !articles.has(w.folded) && !joins.has(w.folded) })
}

// fillsClause reports whether a clause is only a mention, perhaps after an article or an introduction.
func (r *reading) fillsClause(m mention) bool {
	i := m.start
	for i > 0 && !r.words[i].gap && (articles.at(r.words[i-1:i]) > 0 || openers.at(r.words[i-1:i]) > 0) {
		i--
	}
	return beginsClause(r.words, i) && endsClause(r.words, m.end-1)
}
