package session

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// word is a word of an answer, folded to lower case without accents.
type word struct {
	folded     string
	start, end int // in the original text
	// gap is true if punctuation precedes the word, which begins a new clause.
	gap bool
}

// words splits a text into words. An apostrophe or a hyphen between letters ends a word but
// not a clause; in "don't" and similar words the apostrophe is part of the word.
func words(text string) []word {
	var all []word
	r := textfold.NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		folded := string(w.Text)
		last := len(all) - 1
		if folded == "t" && last >= 0 && slices.Contains(apostrophes, w.Gap) {
			all[last].folded, all[last].end = all[last].folded+"'t", w.End
			continue
		}
		all = append(all, word{folded, w.Start, w.End, endsClauseAt(w.Gap)})
	}
	return all
}

var apostrophes = []string{"'", "’", "ʼ", "‘"}

// endsClauseAt reports whether the text between two words ends a clause.
func endsClauseAt(gap string) bool {
	if gap == "-" || gap == "‐" || gap == "‑" {
		return false
	}
	return strings.ContainsFunc(gap, func(r rune) bool {
		return r == '\n' || r == '\r' || !unicode.IsSpace(r) && !strings.ContainsRune("'’ʼ‘*_\"“”«»`°", r)
	})
}

// phrases is a set of phrases.
type phrases struct{ *textfold.PhraseSet[struct{}] }

// at returns the length in words of the longest phrase at the start of ws, within one clause,
// or 0.
func (ps phrases) at(ws []word) int {
	longest := 0
	for n := range ps.Prefixes(clause(ws)) {
		longest = n
	}
	return longest
}

// clause returns the words up to the end of the first clause.
func clause(ws []word) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, w := range ws {
			if i > 0 && w.gap || !yield(w.folded) {
				return
			}
		}
	}
}
