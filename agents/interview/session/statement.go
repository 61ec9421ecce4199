package session

import (
	"slices"
	"strings"
)

// isVerb reports whether a mention is a verb, which a following "not" rejects: "je tutoie pas".
func (r *reading) isVerb(m mention) bool {
	return len(r.pronouns) > 0 && m.end-m.start == 1 && verbForms.at(r.words[m.start:m.end]) > 0
}

// rejects reports whether the negation at i rejects the mention before it: "je tutoie pas", "series don't interest me".
func (r *reading) rejects(i int) bool {
	m := r.newest()
	switch {
	case m == nil || r.words[i].gap || m.start < r.clause:
		return false
	case m.end == i:
		return r.followsNe(m.start) || r.isVerb(*m) || verbNegations.at(r.words[i:]) > 0 && r.isTopic(*m) && !r.names(i+1)
	case r.isVerb(*m) || r.isTopic(*m):
		return r.negatesVerb(m.end, i) && !r.names(i+1)
	}
	return false
}

// negatesVerb reports whether only a pronoun and a verb are between the words i and j of a clause.
func (r *reading) negatesVerb(i, j int) bool {
	if negative := r.words[i].folded; negative == "ne" || negative == "n" {
		return j-i <= negationReach
	}
	for ; i < j; i++ {
		if r.words[i].gap || clitics.at(r.words[i:]) == 0 && !imperatives.has(r.words[i].folded) && predicates.at(r.words[i:]) == 0 {
			return false
		}
	}
	return i < len(r.words) && !r.words[i].gap
}

// isTopic reports whether a mention begins its clause, perhaps after an article.
func (r *reading) isTopic(m mention) bool {
	for j := r.clauseStart(m.start); j < m.start; j++ {
		if articles.at(r.words[j:m.start]) == 0 && openers.at(r.words[j:m.start]) == 0 && topics.at(r.words[j:m.start]) == 0 {
			return false
		}
	}
	return true
}

// clauseStart returns the start of the clause that contains a word, where a clause also begins after words that turn.
func (r *reading) clauseStart(i int) int {
	if i >= r.clause {
		return min(i, max(r.clause, r.start))
	}
	return 0
}

// asks reports whether the current clause, which ends before word i, is a question to the interviewer.
func (r *reading) asks(i int) bool {
	if i == r.clause || i == 0 {
		return false
	}
	gap := r.text[r.words[i-1].end:]
	if i < len(r.words) {
		gap = r.text[r.words[i-1].end:r.words[i].start]
	}
	if !strings.Contains(gap, "?") {
		return false
	}
	if last := r.words[i-1]; slices.Contains(r.pronouns, last.folded) && i > 1 && (i-1 == r.clause || r.joinedTo(i-1)) {
		return true
	}
	for j := r.clause; j < i; j++ {
		if questions.at(r.words[j:i]) > 0 {
			return true
		}
	}
	return false
}

// isSubject reports whether a mention begins a statement on the option that is not known to be kind: "formal feels odd".
func (r *reading) isSubject(m mention) bool {
	if !r.letters || m.negated || m.letter || m.end >= len(r.words) || r.words[m.end].gap || predicates.at(r.words[m.end:]) == 0 {
		return false
	}
	for j := m.end; j < r.clauseEnd(m.start); j++ {
		if tuIsFine.at(r.words[j:]) > 0 || preferences.at(r.words[j:]) > 0 || idioms.at(r.words[j:]) > 0 {
			return false
		}
	}
	return r.isTopic(m)
}
