package stop

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// contentWords returns the folded words of a text without articles, prepositions and
// pronouns.
func contentWords(s string) []string {
	words := strings.FieldsFunc(text.Fold(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(words, func(w string) bool { return slices.Contains(function, w) })
}

// function are words without a meaning of their own.
var function = strings.Fields("the a an and or of to in on for with by at from it its this that these those all also then now " +
	"le la les l un une des du de d et ou a au aux en dans sur pour par avec ce cette ces puis aussi je i we let me us")

// sharedWords counts the words of some that occur in others, in any form.
func sharedWords(some, others []string) int {
	n := 0
	for _, w := range some {
		if slices.ContainsFunc(others, func(o string) bool { return relatedWords(w, o) }) {
			n++
		}
	}
	return n
}

// relatedWords reports whether two folded words may be forms of one: test, tests, tester.
func relatedWords(a, b string) bool {
	if a == b {
		return true
	}
	short, long := min(len(a), len(b)), max(len(a), len(b))
	const ending = 4
	if short < 3 || long-short > ending {
		return false
	}
	same := 0
	for same < short && a[same] == b[same] {
		same++
	}
	return same >= max(3, short-1)
}
