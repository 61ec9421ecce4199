package validate

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

//go:embed lexicon/abstract.txt
var abstractList string

// abstractWords are the words that name nothing in particular.
var abstractWords = sync.OnceValue(func() *textfold.PhraseSet[bool] {
	set := new(textfold.PhraseSet[bool])
	for _, line := range textfold.LexiconLines(abstractList) {
		if err := set.Add(line, true); err != nil {
			panic(err) // the file is part of the program, and a test loads it
		}
	}
	return set
})

// abstractEndings are endings of abstract nouns and of adverbs, in both languages, folded.
var abstractEndings = []string{
	"ite", "ites", "ence", "ences", "ance", "ances", "isme", "itude", "esse", "ment",
	"ness", "ity", "ism", "ship", "hood", "ly", "less", "ful", "ous",
	"tion", "tions", "ique", "iques", "eux", "euse", "euses", "able", "ables", "ible", "ive", "ives",
}

// minAbstractLength is the minimum length of a word whose ending counts.
const minAbstractLength = 7

// isAbstract reports whether a word names nothing in particular.
func isAbstract(folded string) bool {
	for state := range abstractWords().Next(0, folded) {
		if len(abstractWords().Values(state)) > 0 {
			return true
		}
	}
	if len(folded) < minAbstractLength {
		return false
	}
	for _, ending := range abstractEndings {
		if strings.HasSuffix(folded, ending) {
			return true
		}
	}
	return false
}

// evidence counts the words of a text that show a scene, an object, a gesture or a fact: those that are
// not abstract, numbers, quoted words as one, and names except those of an owner ("Don Draper's charm",
// "le charme de Don"). It stops at limit.
func evidence(text string, limit int) int {
	n := 0
	if start, _ := quotation(text, 0); start >= 0 {
		n++
	}
	r := textfold.NewReader(withoutQuotes(text))
	first, owner := true, false
	for w, ok := r.Next(); ok && n < limit; w, ok = r.Next() {
		initial := []rune(text[w.Start:w.End])[0]
		name := unicode.IsUpper(initial) && !first && !strings.ContainsAny(w.Gap, ".!?…:\n")
		first = false
		owned := owner || strings.HasPrefix(text[w.End:], "'s ") || strings.HasPrefix(text[w.End:], "’s ")
		owner = ofWords[string(w.Text)] || owner && name
		if name && !owned || !name && (unicode.IsDigit(initial) || !isAbstract(string(w.Text))) {
			n++
		}
	}
	return n
}
