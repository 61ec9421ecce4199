package reflect

import (
	"cmp"
	_ "embed"
	"strings"
	"sync"
)

// class is the significance of a word.
type class uint8

const (
	// content is a word of a subject, which may be a fact.
	content class = iota
	// generic is a word of any report, which counts only next to a number.
	generic
	// filler is an article, a pronoun, an auxiliary.
	filler
	// plan is a word for a step of the work; a number next to it counts steps.
	plan
	// denial is a word that denies something.
	denial
)

var (
	//go:embed lexicon/en.txt
	english string
	//go:embed lexicon/fr.txt
	french string
	//go:embed lexicon/same.txt
	same string
)

// abbreviations have inner full stops and are not names.
var abbreviations = map[string]bool{"e.g": true, "i.e": true, "p.ex": true, "c.-à-d": true, "c.a.d": true, "a.m": true, "p.m": true}

// entry is the entry of a word in the lexicon.
type entry struct {
	stem  string
	class class
}

// lexicon has the words of both languages.
type lexicon struct {
	words map[string]entry
	// formulas are words of praise, of work that was done, and of continuing.
	formulas map[string]bool
}

// loadLexicon returns one lexicon for both languages, because a reflection and its observation
// may differ in their language or mix them.
var loadLexicon = sync.OnceValue(func() lexicon {
	lists := map[string][]string{}
	for line := range strings.Lines(english + french) {
		if name, words, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			lists[name] = append(lists[name], strings.Fields(words)...)
		}
	}
	l := lexicon{words: map[string]entry{}, formulas: map[string]bool{}}
	for line := range strings.Lines(same) {
		forms := strings.Fields(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, form := range forms {
			l.words[form] = entry{stem: forms[0]}
		}
	}
	for _, list := range []struct { // later entries win
		class
		name string
	}{{generic, "generic"}, {filler, "filler"}, {plan, "plan"}, {denial, "denial"}} {
		for _, form := range lists[list.name] {
			stem := cmp.Or(l.words[form].stem, stemOf(form))
			l.words[form] = entry{stem, list.class}
		}
	}
	for _, form := range lists["formula"] {
		l.formulas[form] = true
	}
	return l
})

// weigh returns the stem and the class of a folded word.
func weigh(text string) (string, class) {
	words := loadLexicon().words
	if e, ok := words[text]; ok {
		return e.stem, e.class
	}
	if e, ok := words[strings.TrimSuffix(text, "s")]; ok {
		return e.stem, e.class
	}
	if len(text) < 3 {
		return text, filler
	}
	return stemOf(text), content
}

// stemLength is the number of bytes of a word that are compared: endings come after them, and
// French and English words with the same root often agree in them.
const stemLength = 6

// stemOf returns a word without its ending.
func stemOf(text string) string {
	if len(text) > stemLength {
		return text[:stemLength]
	}
	for _, ending := range []string{"es", "ed", "s", "e", "x"} {
		if one := strings.TrimSuffix(text, ending); one != text && len(one) >= 3 {
			return one
		}
	}
	return text
}
