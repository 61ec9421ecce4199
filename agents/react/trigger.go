package react

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

//go:embed triggers.txt
var triggerLexicon string

// ranks are the triggers in the order in which they are looked for: what is worse to
// overlook comes first.
var ranks = []Trigger{Security, Conflict, Decision, Missing, Ambiguity}

// triggerPhrases are the phrases that speak of a trigger, with its rank.
var triggerPhrases = sync.OnceValue(func() *textfold.PhraseSet[int] {
	set := new(textfold.PhraseSet[int])
	for name, line := range textfold.LexiconLines(triggerLexicon) {
		if err := set.Add(line, slices.Index(ranks, Trigger(name))); err != nil {
			panic(fmt.Sprintf("react: triggers.txt: %v", err))
		}
	}
	return set
})

// maxReason is how much of a reason is read, in bytes.
const maxReason = 4_000

// triggerOf sorts a reason to escalate, in English or French, into one of the five
// triggers; empty if it speaks of none.
func triggerOf(reason string) Trigger {
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	said := textfold.Fold(reason)
	best := len(ranks)
	for i := range said {
		if denied(said[:i]) {
			continue
		}
		for _, rank := range triggerPhrases().Prefixes(slices.Values(said[i:])) {
			best = min(best, rank)
		}
	}
	if best == len(ranks) {
		return ""
	}
	return ranks[best]
}

// What denies the phrase that comes next ("no secret", "aucune faille"), and what may
// stand between the two ("no known vulnerability", "pas de faille").
var (
	denials = []string{"no", "not", "nor", "without", "never", "pas", "aucun", "aucune", "sans", "ni", "jamais"}
	between = []string{"a", "an", "any", "known", "new", "real", "de", "d", "un", "une"}
)

// denied reports whether words deny what comes after them.
func denied(before []string) bool {
	n := len(before)
	if n > 1 && slices.Contains(between, before[n-1]) {
		n--
	}
	return n > 0 && slices.Contains(denials, before[n-1])
}
