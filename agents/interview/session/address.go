package session

import (
	"strings"
)

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

// isFormOfAddress reports whether the pronoun at i names a form of address ("dis-moi tu"), and is not the subject or
// the object of a verb ("comme tu veux", "ça vous va").
func isFormOfAddress(ws []word, i int) bool {
	if beginsClause(ws, i) && endsClause(ws, i) {
		return true
	}
	before, after := ws[max(0, i-1):i], ws[i+1:]
	if endsClause(ws, i) {
		after = nil
	}
	if beginsClause(ws, i) {
		before = nil
	}
	switch {
	case len(before) > 0 && theTu.at(before) > 0:
		return true
	case len(before) > 0 && before[0].folded == "est" && len(after) > 0 && agents.at(after) > 0:
		return false
	case len(before) > 0 && i > 1 && ws[i-2].folded == "va":
		return true
	case len(before) > 0 && addressed.at(before) > 0 && (before[0].folded != "de" || i <= 1 || negations.at(ws[i-2:]) == 0):
		return false
	case len(after) == 0 || tuIsFine.at(after) > 0:
		return true
	case len(before) > 0 && clauseWords.at(before) > 0:
		return false
	}
	return !isSubjectOf(ws[i].folded, after)
}

// isSubjectOf reports whether a verb follows the pronoun: its second person ("tu veux", "vous voulez"), or an
// infinitive whose object the pronoun is ("je vais vous dire").
func isSubjectOf(pronoun string, after []word) bool {
	for len(after) > 1 && clitics.at(after) > 0 && !after[1].gap {
		after = after[1:]
	}
	verb := after[0].folded
	if verbForms.at(after) > 0 || strings.HasSuffix(verb, "er") || strings.HasSuffix(verb, "ir") || strings.HasSuffix(verb, "re") {
		return true
	}
	if pronoun == "vous" {
		return strings.HasSuffix(verb, "ez") || secondPersons.at(after) > 0
	}
	return strings.HasSuffix(verb, "s") || strings.HasSuffix(verb, "x") || secondPersons.at(after) > 0
}
