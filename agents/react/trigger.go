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

// triggersByRank are the triggers, the gravest first.
var triggersByRank = []Trigger{Security, Conflict, Decision, Missing, Ambiguity}

// triggerPhrases are the phrases for each trigger, with its rank.
var triggerPhrases = sync.OnceValue(func() *textfold.PhraseSet[int] {
	set := new(textfold.PhraseSet[int])
	for name, oneLine := range textfold.LexiconLines(triggerLexicon) {
		if err := set.Add(oneLine, slices.Index(triggersByRank, Trigger(name))); err != nil {
			panic(fmt.Sprintf("react: triggers.txt: %v", err))
		}
	}
	return set
})

// maxReason is the part of a reason that is examined, in bytes.
const maxReason = 4_000

// triggerIn returns the gravest trigger that a reason to escalate names, in English or
// French, or an empty string.
func triggerIn(reason string) Trigger {
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	words := textfold.Fold(reason)
	best := len(triggersByRank)
	for i := range words {
		if isDenied(words[:i]) {
			continue
		}
		for _, rank := range triggerPhrases().Prefixes(slices.Values(words[i:])) {
			best = min(best, rank)
		}
	}
	if best == len(triggersByRank) {
		return ""
	}
	return triggersByRank[best]
}

// denials negate the phrase after them ("no secret", "aucune faille"); one word of
// betweenDenial may come between them ("no known vulnerability", "pas de faille").
var (
	denials       = []string{"no", "not", "nor", "without", "never", "pas", "aucun", "aucune", "sans", "ni", "jamais"}
	betweenDenial = []string{"a", "an", "any", "known", "new", "real", "de", "d", "un", "une"}
)

// isDenied reports whether the words before a phrase negate it.
func isDenied(before []string) bool {
	n := len(before)
	if n > 1 && slices.Contains(betweenDenial, before[n-1]) {
		n--
	}
	return n > 0 && slices.Contains(denials, before[n-1])
}
