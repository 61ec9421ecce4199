package session

import (
	_ "embed"
	"fmt"
	"strings"
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

	informalHints list = "informal-hints"
	formalHints   list = "formal-hints"
	seriesHints   list = "series-hints"
	filmHints     list = "film-hints"

	idioms        list = "idioms"
	negations     list = "negations"
	afterthoughts list = "afterthoughts"
	spoils        list = "spoils"
	preferences   list = "preferences"
	comparisons   list = "comparisons"
	thans         list = "thans"
	reasons       list = "reasons"
	articles      list = "articles"
	asides        list = "asides"
	topics        list = "topics"
	imperatives   list = "imperatives"
	verbNegations list = "verb-negations"
	others        list = "others"
	minors        list = "minors"
	sos           list = "so-after"
	alternatives  list = "alternatives"
	agents        list = "agents"
	questions     list = "questions"
	turns         list = "turns"
	choosing      list = "choosing"
	alsos         list = "alsos"
	boths         list = "boths"
	joins         list = "joins"
	predicates    list = "predicates"
	hesitations   list = "hesitations"
	everyday      list = "everyday"

	naming        list = "naming"
	chosen        list = "chosen"
	afterLetter   list = "after-letter"
	theTu         list = "the-tu"
	addressed     list = "addressed"
	clauseWords   list = "clause-words"
	clitics       list = "clitics"
	verbForms     list = "verb-forms"
	secondPersons list = "second-persons"
	tuIsFine      list = "tu-is-fine"

	leads         list = "leads"
	leadsOn       list = "leads-on"
	openers       list = "openers"
	softOpeners   list = "soft-openers"
	introduces    list = "introduces"
	remarks       list = "remarks"
	abbreviations list = "abbreviations"
	nothing       list = "nothing"
	lastPlace     list = "last"
	lastButOne    list = "last-but-one"
	middlePlace   list = "middle"
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

// has reports whether a word is in the list.
func (l list) has(folded string) bool { return l.at([]word{{folded: folded}}) > 0 }

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

//go:embed titlewords.txt
var titleWordsText string

// titleLists are the sets of words of titlewords.txt.
var titleLists = sync.OnceValue(func() map[string]map[string]bool {
	sets := map[string]map[string]bool{}
	for name, line := range textfold.LexiconLines(titleWordsText) {
		if sets[name] == nil {
			sets[name] = map[string]bool{}
		}
		for word := range strings.FieldsSeq(line) {
			sets[name][word] = true
		}
	}
	return sets
})

// titleList returns a function that returns a set of titlewords.txt.
func titleList(name string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool { return titleLists()[name] })
}
