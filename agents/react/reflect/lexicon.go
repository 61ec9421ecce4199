package reflect

import (
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
	//go:embed lexicon/filler.txt
	fillerText string
	//go:embed lexicon/generic.txt
	genericText string
	//go:embed lexicon/plan.txt
	planText string
	//go:embed lexicon/denial.txt
	denialText string
	//go:embed lexicon/same.txt
	sameText string
	//go:embed lexicon/formula.txt
	formulaText string
)

// abbreviations have inner full stops and are no names.
var abbreviations = map[string]bool{"e.g": true, "i.e": true, "p.ex": true, "c.-à-d": true, "c.a.d": true, "a.m": true, "p.m": true}

// entry is what is known of a word.
type entry struct {
	stem  string
	class class
}

// lexicon holds the words that are known. It is read when it is first needed.
var lexicon = sync.OnceValue(func() map[string]entry {
	known := map[string]entry{}
	for line := range strings.Lines(sameText) {
		forms := strings.Fields(line)
		for _, form := range forms {
			known[form] = entry{stem: forms[0]}
		}
	}
	for _, list := range []struct { // a later one wins
		class
		text string
	}{{generic, genericText}, {filler, fillerText}, {plan, planText}, {denial, denialText}} {
		for form := range strings.FieldsSeq(list.text) {
			e := known[form]
			if e.stem == "" {
				e.stem = cut(form)
			}
			e.class = list.class
			known[form] = e
		}
	}
	return known
})

// formulas are the words of praise, and of going on.
var formulas = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for form := range strings.FieldsSeq(formulaText) {
		known[form] = true
	}
	return known
})

// weigh returns the stem and the class of a folded word.
func weigh(text string) (string, class) {
	known := lexicon()
	if e, ok := known[text]; ok {
		return e.stem, e.class
	}
	if one := strings.TrimSuffix(text, "s"); one != text {
		if e, ok := known[one]; ok {
			return e.stem, e.class
		}
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
