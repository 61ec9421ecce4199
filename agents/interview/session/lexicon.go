package session

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

//go:embed lexicon.txt
var lexiconText string

// lexicon holds the lists of lexicon.txt. It is read when the first answer is.
var lexicon = sync.OnceValue(func() map[list]phrases { return readLexicon(lexiconText) })

// list names a list of the lexicon, which says what it is for.
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

// places are the lists of first, second …
var places = []list{"place-1", "place-2", "place-3", "place-4", "place-5"}

// phrases returns the phrases of the list.
func (l list) phrases() phrases {
	found, ok := lexicon()[l]
	if !ok {
		panic(fmt.Sprintf("flow: lexicon.txt has no list %q", string(l)))
	}
	return found
}

// at returns the length in words of the longest phrase of the list at the head of ws;
// 0 if there is none.
func (l list) at(ws []word) int { return l.phrases().at(ws) }

func readLexicon(text string) map[list]phrases {
	lists := map[list]phrases{}
	for name, line := range textfold.LexiconLines(text) {
		l := list(name)
		if lists[l].PhraseSet == nil {
			lists[l] = phrases{new(textfold.PhraseSet[struct{}])}
		}
		if err := lists[l].Add(line, struct{}{}); err != nil {
			panic(fmt.Sprintf("flow: lexicon.txt: %v", err))
		}
	}
	return lists
}
