package reflect

import (
	"cmp"
	_ "embed"
	"strings"
	"sync"
)

// class is how much a word tells.
type class uint8

const (
	// content is a word of a subject: it may be a fact.
	content class = iota
	// generic is a word of any work report: it counts only beside a number.
	generic
	// filler is an article, a pronoun, an auxiliary.
	filler
	// plan is what a step of the work is called; a number beside it counts steps.
	plan
	// denial says that something is not there.
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

// abbreviations have inner full stops and are no names.
var abbreviations = map[string]bool{"e.g": true, "i.e": true, "p.ex": true, "c.-à-d": true, "c.a.d": true, "a.m": true, "p.m": true}

// entry is what is known of a word.
type entry struct {
	stem  string
	class class
}

// lexicon is what is known of words. It is read when it is first needed.
type lexicon struct {
	words map[string]entry
	// formulas are the words of praise, of what was done, and of going on.
	formulas map[string]bool
}

// known is the lexicon of both languages: reflections of one are written on
// observations in the other, or mix them.
var known = sync.OnceValue(func() lexicon {
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
	for _, list := range []struct { // a later one wins
		class
		name string
	}{{generic, "generic"}, {filler, "filler"}, {plan, "plan"}, {denial, "denial"}} {
		for _, form := range lists[list.name] {
			stem := cmp.Or(l.words[form].stem, cut(form))
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
	words := known().words
	if e, ok := words[text]; ok {
		return e.stem, e.class
	}
	if e, ok := words[strings.TrimSuffix(text, "s")]; ok {
		return e.stem, e.class
	}
	if len(text) < 3 {
		return text, filler
	}
	return cut(text), content
}

// stemLength is how many bytes of a word are compared: endings of conjugation and
// number come behind, and French and English words of one root agree before.
const stemLength = 6

// cut returns a word without its ending.
func cut(text string) string {
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
