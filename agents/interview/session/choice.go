package session

import "slices"

// negationReach is the number of words after a negation to which it applies.
const negationReach = 6

// options are the options of a question. An answer mentions an option by one of its phrases,
// or by a pronoun that expresses the choice.
type options struct {
	names    []phrases
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
}

// mentions returns the options that an answer mentions, from left to right. Negations and
// preferences apply to the next mention in the same clause, or else to the one directly before
// them ("films, not really"; "films mostly").
func (o options) mentions(ws []word) []mention {
	r := reading{options: o, words: ws, not: noWord, like: noWord}
	for i := 0; i < len(ws); {
		i += r.step(i)
	}
	r.settle(len(ws))
	return r.found
}

// noWord is the position of a missing word.
const noWord = -1

// reading is the state of the parser of an answer.
type reading struct {
	options
	words  []word
	found  []mention
	clause int // start of the current clause
	// not and like are the positions of a pending negation and a pending preference.
	not, like int
	// weighs is true if the clause states a preference; the option after "than" is then rejected.
	weighs, than bool
}

// step parses the phrase at a word, and returns its length in words.
func (r *reading) step(i int) int {
	rest := r.words[i:]
	if rest[0].gap {
		r.settle(i)
	}
	if n := idioms.at(rest); n > 0 {
		return n
	}
	if reasons.at(rest) > 0 && len(r.found) > 0 {
		return r.clauseEnd(i) - i
	}
	if m, ok := r.mentionAt(i); ok {
		r.take(m)
		return m.end - m.start
	}
	if n := spoils.at(rest); n > 0 && r.within() {
		r.newest().negated = true
		return n
	}
	if n := negations.at(rest); n > 0 && (rest[0].folded != "plus" || r.followsNe(i)) {
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
	return 1
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
	switch {
	case r.than:
		m.negated, m.preferred = !r.newest().negated, false
	case r.not != noWord && m.start-r.not <= negationReach:
		m.negated, m.preferred = true, false
	}
	if r.not != noWord && !m.negated {
		r.expire(m.start)
	}
	r.not, r.like, r.than = noWord, noWord, false
	r.found = append(r.found, m)
}

// settle ends the current clause before word i.
func (r *reading) settle(i int) {
	r.expire(i)
	if m := r.newest(); m != nil && r.like != noWord && m.end == r.like {
		m.preferred = true
	}
	r.not, r.like, r.than, r.weighs, r.clause = noWord, noWord, false, false, i
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
	rest := r.words[i:]
	found, length := noWord, 0
	for option, names := range r.names {
		if n := names.at(rest); n > length {
			found, length = option, n
		}
	}
	if found != noWord {
		return mention{option: found, start: i, end: i + length}, true
	}
	if option := slices.Index(r.pronouns, rest[0].folded); option >= 0 && isFormOfAddress(r.words, i) {
		return mention{option: option, start: i, end: i + 1}, true
	}
	if option := slices.Index([]string{"a", "b"}, rest[0].folded); r.letters && option >= 0 && isLetterChoice(r.words, i) {
		return mention{option: option, start: i, end: i + 1, letter: true}, true
	}
	return mention{}, false
}

// endsClause reports whether word i is the last one of its clause.
func endsClause(ws []word, i int) bool { return i+1 == len(ws) || ws[i+1].gap }

// beginsClause reports whether word i is the first one of its clause.
func beginsClause(ws []word, i int) bool { return i == 0 || ws[i].gap }

// isLetterChoice reports whether the letter at i is a choice, and not a word ("a film") or part
// of a name ("série B").
func isLetterChoice(ws []word, i int) bool {
	w := ws[i]
	follows := w.folded == "b" || endsClause(ws, i) || afterLetter.at(ws[i+1:]) > 0
	if i == 0 {
		return follows
	}
	return naming.at(ws[i-1:]) > 0 || follows && (endsClause(ws, i) && w.gap || chosen.at(ws[i-1:]) > 0)
}

// isFormOfAddress reports whether the pronoun at i names a form of address ("dis-moi tu"), and
// does not address somebody ("et vous ?").
func isFormOfAddress(ws []word, i int) bool {
	if i > 0 && !ws[i].gap && sayTu.at(ws[i-1:]) > 0 {
		return endsClause(ws, i) || theTu.at(ws[i-1:]) > 0 || tuIsFine.at(ws[i+1:]) > 0
	}
	if !beginsClause(ws, i) {
		return false
	}
	return endsClause(ws, i) || tuIsFine.at(ws[i+1:]) > 0
}

// choose returns the option that an answer chooses, and false if the choice is not clear. A letter
// at the start of the answer is the choice. Otherwise choose weighs the options that the answer
// names without rejecting them. An answer that names no option may give its place ("the first").
func (o options) choose(text string) (int, bool) {
	ws := words(text)
	found := o.mentions(ws)
	if len(found) == 0 {
		return byPlace(ws, len(o.names))
	}
	if first := found[0]; first.letter && !first.negated {
		return first.option, !contradicted(first, found[1:], ws)
	}
	return weigh(found, len(o.names))
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

// weigh returns the only option that is named and never rejected; of several, the only one that
// is preferred; and if one of two is rejected, the other.
func weigh(found []mention, options int) (int, bool) {
	named, rejected, preferred := make([]int, options), make([]int, options), make([]int, options)
	for _, m := range found {
		switch {
		case m.negated:
			rejected[m.option]++
		case m.preferred:
			preferred[m.option]++
			fallthrough
		default:
			named[m.option]++
		}
	}
	var open, liked, out []int
	for i := range options {
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
	case len(open) == 1:
		return open[0], true
	case len(liked) == 1:
		return liked[0], true
	case options == 2 && len(open) == 0 && len(out) == 1:
		return 1 - out[0], true
	}
	return 0, false
}
