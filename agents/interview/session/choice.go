package session

import (
	"slices"
	"strings"
)

// negationReach is the number of words after a negation to which it applies.
const negationReach = 6

// options are the options of a question. An answer mentions an option by one of its names,
// or by a pronoun that expresses the choice.
type options struct {
	count int
	// nameAt returns the option that the words at i name, and the number of these words, or 0.
	nameAt   func(r *reading, i int) (option, n int)
	keys     []string // names that are also recognized with a typing error
	pronouns []string // one of each option; may be empty
	letters  bool     // "A" is the first, "B" the second
}

// mention is a range of words that names an option.
type mention struct {
	option     int
	start, end int
	letter     bool
	negated    bool // "not the films"
	preferred  bool // "rather the films"
	turned     bool // where the answer turns to its choice: "I like films, but series"
	weak       bool // neither chosen nor rejected: "my wife likes films"
	joined     bool // to another option: "films and series"
}

// read returns the options that an answer mentions, from left to right. Negations and preferences
// apply to the next mention in the same clause, or else to the one directly before them ("films,
// not really"; "films mostly").
func (o options) read(text string, ws []word) *reading {
	r := &reading{options: o, text: text, words: ws, not: noWord, like: noWord, turn: noWord}
	for i := 0; i < len(ws); {
		n := r.step(i)
		i += n
	}
	r.settle(len(ws))
	return r
}

// noWord is the position of a missing word.
const noWord = -1

// reading is the state of the parser of an answer.
type reading struct {
	options
	text   string
	words  []word
	found  []mention
	clause int // start of the current clause
	start  int // end of the last words that turn to a choice
	open   int // where a title may begin, because only introductory words precede it
	// not and like are the positions of a pending negation and a pending preference; turn is the
	// end of the last words that turn to the choice.
	not, like, turn int
	// weighs is true if the clause states a preference; the option after "than" is then rejected.
	weighs, than bool
	// aside is true if the clause is not about the candidate's choice: it is about the past, somebody else, or it asks.
	aside bool
}

// step parses the phrase at a word, and returns its length in words.
func (r *reading) step(i int) int {
	if r.words[i].gap {
		r.settle(i)
	}
	if n := r.phrase(i); n > 0 {
		if r.open == i {
			r.open += n
		}
		return n
	}
	if m, ok := r.mentionAt(i); ok {
		r.take(m)
		return m.end - m.start
	}
	if n := r.modifier(i); n > 0 {
		r.open = i + n
		return n
	}
	if r.open == i && articles.at(r.words[i:]) > 0 {
		r.open++
	}
	return 1
}

// phrase parses a phrase that has precedence over the names in it, and returns its length or 0.
func (r *reading) phrase(i int) int {
	rest := r.words[i:]
	if n := idioms.at(rest); n > 0 {
		return n
	}
	if reasons.at(rest) > 0 && len(r.found) > 0 {
		return r.clauseEnd(i) - i
	}
	if n := spoils.at(rest); n > 0 {
		if r.after(i) {
			r.newest().negated = true
		} else {
			r.not = i
		}
		return n
	}
	if n := asides.at(rest); n > 0 {
		r.aside = true
		return n
	}
	if n := others.at(rest); n > 0 && !r.within() {
		r.aside = true
		return n
	}
	return 0
}

// modifier parses a phrase that modifies the mention before or after it, and returns its length or 0.
func (r *reading) modifier(i int) int {
	rest := r.words[i:]
	if n := turns.at(rest); n > negations.at(rest) && !r.qualifies(i) && !r.isObject(i) {
		if i > r.clause {
			r.settle(i)
		}
		r.turn, r.start = i+n, i+n
		return n
	}
	if n := choosing.at(rest); n > 0 {
		r.turn = i + n
		return n
	}
	if n := minors.at(rest); n > 0 && r.newest() != nil {
		r.aside = true
		return n
	}
	if n := alsos.at(rest); n > 0 {
		if r.within() && len(r.found) > 1 {
			r.newest().weak = true
		}
		return n
	}
	if r.corrects(i) {
		r.newest().negated, r.turn = true, i+1
		return 1
	}
	if n := negations.at(rest); n > 0 && (rest[0].folded != "plus" || r.followsNe(i)) {
		if r.rejects(i) {
			r.newest().negated = true
			return n
		}
		if strings.HasPrefix(strings.TrimSpace(r.text[r.words[i].end:]), "?") && i > r.clause {
			return n // "isn't it?"
		}
		r.expire(i)
		r.not = i
		return n
	}
	if n := preferences.at(rest); n > 0 {
		r.like, r.weighs = i, true
		return n
	}
	if n := comparisons.at(rest); n > 0 {
		r.than = r.within() && (r.weighs || thans.at(rest) > 0)
		return n
	}
	n := max(leads.at(rest), joins.at(rest))
	if m := openers.at(rest); m > n {
		if _, named := r.mentionAt(i + m - 1); !named {
			n = m
		}
	}
	return n
}

// qualifies reports whether "so" at i qualifies what follows: "not so formal".
func (r *reading) qualifies(i int) bool {
	return r.words[i].folded == "so" && i > 0 && !r.words[i].gap && (sos.at(r.words[i-1:i]) > 0)
}

// isObject reports whether a pronoun at i belongs to the verb before it: "vouvoyez-moi pas".
func (r *reading) isObject(i int) bool {
	m := r.newest()
	return m != nil && m.end == i && !r.words[i].gap && imperatives.has(r.words[i].folded)
}

// corrects reports whether "no" at i replaces the option before it by the one after it: "films... no, series".
func (r *reading) corrects(i int) bool {
	no := r.words[i].folded
	if no != "non" && no != "no" || r.newest() == nil || r.joinedTo(i) || r.newest().end != i && r.clause != i && r.turn != i {
		return false
	}
	if endsClause(r.words, i) {
		return r.newest().end == i && r.names(i+1) && r.words[i].gap || r.turn == i && r.names(i+1)
	}
	return no == "non" && r.names(i+1)
}

// names reports whether the words at i, perhaps after an article, name an option.
func (r *reading) names(i int) bool {
	if i >= len(r.words) {
		return false
	}
	if articles.at(r.words[i:]) > 0 && i+1 < len(r.words) {
		i++
	}
	_, ok := r.mentionAt(i)
	return ok
}

// joinedTo reports whether "and" or "or" precedes a word.
func (r *reading) joinedTo(i int) bool { return i > 0 && joins.at(r.words[i-1:i]) > 0 }

// after reports whether a mention is in the current clause or right before word i.
func (r *reading) after(i int) bool {
	m := r.newest()
	return m != nil && (m.start >= r.clause || m.end == i)
}

// clauseEnd returns the end of the clause that contains a word.
func (r *reading) clauseEnd(i int) int {
	for i++; i < len(r.words) && !r.words[i].gap; {
		i++
	}
	return i
}

// followsNe reports whether the French "ne" precedes a word: "je ne regarde plus de".
func (r *reading) followsNe(i int) bool {
	for j := i - 1; j >= max(0, i-3); j-- {
		if r.words[j].folded == "ne" || r.words[j].folded == "n" {
			return true
		}
	}
	return false
}

// newest returns the last mention, or nil.
func (r *reading) newest() *mention {
	if len(r.found) == 0 {
		return nil
	}
	return &r.found[len(r.found)-1]
}

// within reports whether the current clause has a mention.
func (r *reading) within() bool {
	m := r.newest()
	return m != nil && m.start >= r.clause
}

// take adds a mention, and applies the pending negation and preference to it.
func (r *reading) take(m mention) {
	m.preferred = r.like != noWord
	m.turned = r.turn != noWord
	if before := r.newest(); before != nil && before.option != m.option && r.joins(before.end, m.start) {
		before.joined, m.joined = true, true
	}
	if before := r.newest(); before != nil && before.negated && r.not == noWord && r.joins(before.end, m.start) && !r.words[m.start].gap &&
		alternatives.at(r.words[before.end:]) > 0 {
		r.not = m.start
	}
	switch {
	case r.than:
		m.negated, m.preferred = !r.newest().negated, false
	case r.not != noWord && m.start-r.not <= negationReach:
		m.negated, m.preferred = true, false
	}
	if r.not != noWord && !m.negated {
		r.expire(m.start)
	}
	r.not, r.like, r.turn, r.than = noWord, noWord, noWord, false
	r.found = append(r.found, m)
}

// joins reports whether the words from i to j are only "and", "or" and articles.
func (r *reading) joins(i, j int) bool {
	some := false
	for ; i < j; i++ {
		switch {
		case joins.at(r.words[i:j]) > 0:
			some = true
		case articles.at(r.words[i:j]) == 0:
			return false
		}
	}
	return some
}

// settle ends the current clause before word i.
func (r *reading) settle(i int) {
	r.expire(i)
	if m := r.newest(); m != nil && r.like != noWord && m.end == r.like {
		m.preferred = true
	}
	asks := r.asks(i)
	for k := len(r.found) - 1; k >= 0 && r.found[k].start >= r.clause; k-- {
		m := &r.found[k]
		m.weak = m.weak || r.aside || asks || r.isSubject(*m)
	}
	if r.turn != i {
		r.turn = noWord
	}
	r.not, r.like, r.than, r.weighs, r.clause, r.open, r.aside = noWord, noWord, false, false, i, i, false
}

// expire applies a pending negation to the mention directly before it, if the negation ends its
// clause or is followed by an afterthought: "films, not really".
func (r *reading) expire(i int) {
	m := r.newest()
	if r.not == noWord || m == nil || m.end != r.not {
		return
	}
	after := r.not + max(1, negations.at(r.words[r.not:]))
	if after >= i || afterthoughts.at(r.words[after:]) > 0 {
		m.negated = true
	}
}

// mentionAt returns the mention at a word.
func (r *reading) mentionAt(i int) (mention, bool) {
	if option, n := r.nameAt(r, i); n > 0 {
		return mention{option: option, start: i, end: i + n}, true
	}
	w := r.words[i].folded
	if option := slices.Index(r.pronouns, w); option >= 0 && isFormOfAddress(r.words, i) {
		return mention{option: option, start: i, end: i + 1}, true
	}
	if option := slices.Index([]string{"a", "b"}, w); r.letters && option >= 0 && isLetterChoice(r.words, i) {
		return mention{option: option, start: i, end: i + 1, letter: true}, true
	}
	return mention{}, false
}
