package session

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

//go:embed lexicon.txt
var lexiconText string

// lexicon returns the lists of lexicon.txt, which are parsed on the first use.
var lexicon = sync.OnceValue(func() map[list]phrases { return readLexicon(lexiconText) })

// list names a list of the lexicon; lexicon.txt describes each.
type list string

const (
	informal list = "informal"
	formal   list = "formal"
	series   list = "series"
	films    list = "films"

	idioms        list = "idioms"
	negations     list = "negations"
	afterthoughts list = "afterthoughts"
	spoils        list = "spoils"
	preferences   list = "preferences"
	comparisons   list = "comparisons"
	thans         list = "thans"
	reasons       list = "reasons"
	articles      list = "articles"

	naming      list = "naming"
	chosen      list = "chosen"
	afterLetter list = "after-letter"
	sayTu       list = "say-tu"
	theTu       list = "the-tu"
	tuIsFine    list = "tu-is-fine"

	leads         list = "leads"
	leadsOn       list = "leads-on"
	openers       list = "openers"
	softOpeners   list = "soft-openers"
	introduces    list = "introduces"
	remarks       list = "remarks"
	abbreviations list = "abbreviations"
	nothing       list = "nothing"
	lastPlace     list = "last"
	afterPlace    list = "after-place"
)

// places are the lists for first, second …
var places = []list{"place-1", "place-2", "place-3", "place-4", "place-5"}

func (l list) phrases() phrases {
	found, ok := lexicon()[l]
	if !ok {
		panic(fmt.Sprintf("session: lexicon.txt has no list %q", string(l)))
	}
	return found
}

// at returns the length in words of the longest phrase of the list at the start of ws, or 0.
func (l list) at(ws []word) int { return l.phrases().at(ws) }

func readLexicon(text string) map[list]phrases {
	lists := map[list]phrases{}
	for name, line := range textfold.LexiconLines(text) {
		l := list(name)
		if lists[l].PhraseSet == nil {
			lists[l] = phrases{new(textfold.PhraseSet[struct{}])}
		}
		if err := lists[l].Add(line, struct{}{}); err != nil {
			panic(fmt.Sprintf("session: lexicon.txt: %v", err))
		}
	}
	return lists
}
