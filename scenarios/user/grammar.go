package user

import (
	_ "embed"
	"iter"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// list is a list of the lexicon of a language.
type list string

// The lists of phrases that ask for what follows them.
const (
	give    list = "give"    // asks the user to do so
	need    list = "need"    // states what the agent needs
	which   list = "which"   // an interrogative
	have    list = "have"    // asks in a question, directly before a name
	lack    list = "lack"    // asks although it is a denial, directly before a name
	without list = "without" // asks if something is denied, directly before a name
	await   list = "await"   // states that the agent has not got it yet, directly before a name
	after   list = "after"   // asks for the name before it
)

// The lists of words.
const (
	minor     list = "minor"     // is not compared in names: "date de votre achat" is "date d'achat"
	polite    list = "polite"    // may stand beside a name
	please    list = "please"    // makes a request of a name alone
	agent     list = "agent"     // before a verb of giving makes an offer or a purpose of it, unless one of user is nearer
	user      list = "user"      // is the subject of requests
	past      list = "past"      // before one of user makes a question about the past
	person    list = "person"    // before a verb of needing makes it the need of the user
	idle      list = "idle"      // does not ask, although some of its words do: "merci pour" thanks for a name
	told      list = "told"      // after a name makes the question about it one about what the agent did
	denials   list = "denials"   // undoes a phrase later in its clause
	reminders list = "reminders" // undoes denials: "do not forget to send …"
	clauses   list = "clauses"   // begins a clause that is not asked for
	breaks    list = "breaks"    // begins other words that are not asked for, up to the next of joins
	joins     list = "joins"
)

// grammar has the words by which a language asks for something.
type grammar struct{ phrases textfold.PhraseSet[list] }

//go:embed lexicon_en.txt
var englishLexicon string

//go:embed lexicon_fr.txt
var frenchLexicon string

// grammarOf returns a function that reads a lexicon when it is first needed.
func grammarOf(lexicon string) func() *grammar {
	return sync.OnceValue(func() *grammar {
		g := new(grammar)
		for name, line := range textfold.LexiconLines(lexicon) {
			if err := g.phrases.Add(line, list(name)); err != nil {
				panic(err) // the lexicons are embedded
			}
		}
		return g
	})
}

// at returns the phrases of all lists at the beginning of words, with their lengths.
func (g *grammar) at(words []string) iter.Seq2[int, list] {
	return g.phrases.Prefixes(slices.Values(words))
}

// longest returns the number of words of the longest phrase of some lists at the beginning of words, and its list.
func (g *grammar) longest(words []string, lists ...list) (length int, of list) {
	for n, l := range g.at(words) {
		if n > length && slices.Contains(lists, l) {
			length, of = n, l
		}
	}
	return length, of
}

// is reports whether a word is in one of the lists.
func (g *grammar) is(word string, lists ...list) bool {
	for _, l := range g.at([]string{word}) {
		if slices.Contains(lists, l) {
			return true
		}
	}
	return false
}

// hasAny reports whether one of the words is in one of the lists.
func (g *grammar) hasAny(words []string, lists ...list) bool {
	return slices.ContainsFunc(words, func(word string) bool { return g.is(word, lists...) })
}
