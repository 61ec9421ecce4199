package stop

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed lexicon/steps.txt
var stepWordsText string

// small is a set of function words for the extraction of steps; the list explains
// each set.
type small uint32

// The sets.
const (
	introduction small = 1 << iota
	subjects
	persons
	clitics
	connectives
	then
	conjoining
	alternative
	causing
	with
	copulas
	after
	before
	asking
	fillers
	pronouns
	wide
)

var smallNames = []string{
	"introduction", "subjects", "persons", "clitics", "connectives", "then", "conjoining", "alternative", "causing",
	"with", "copulas", "after", "before", "asking", "fillers", "pronouns", "wide",
}

// stepWords are the words of the list.
type stepWords struct {
	sets map[string]small
	// seen reports most words that are in no set without looking them up.
	seen [1 << 12]bool
	// verbs are the beginnings of verbs with the kind of work that they name, by
	// their first letters.
	verbs map[string][]verbStem
}

type verbStem struct {
	stem string
	kind kind
}

// stemLength is how long the shortest beginning of a verb is.
const stemLength = 3

// smallWords reads the list at the first use.
var smallWords = sync.OnceValue(func() *stepWords {
	w := &stepWords{sets: map[string]small{}, verbs: map[string][]verbStem{}}
	for line := range strings.Lines(stepWordsText) {
		name, list, ok := strings.Cut(line, ":")
		if !ok || line[0] == '#' {
			continue
		}
		set, k := slices.Index(smallNames, name), slices.Index(kindNames, name)
		if set < 0 && k < 0 {
			panic(fmt.Sprintf("the list of the words of steps has no set %q", name))
		}
		for word := range strings.FieldsSeq(list) {
			if k >= 0 {
				w.verbs[word[:stemLength]] = append(w.verbs[word[:stemLength]], verbStem{word, kind(k)})
				continue
			}
			w.sets[word] |= 1 << set
			w.seen[sketch(word)] = true
		}
	}
	return w
})

// of returns the sets that a folded word is in.
func (w *stepWords) of(fold string) small {
	if !w.seen[sketch(fold)] {
		return 0
	}
	return w.sets[fold]
}

// sketch returns a cheap hash of a word: its length and its first and last letters.
func sketch(fold string) int {
	n := len(fold)
	if n == 0 {
		return 0
	}
	return (n<<10 ^ int(fold[0])<<5 ^ int(fold[n-1])) & (1<<12 - 1)
}

// kind returns the kind of work of a folded word, other if it names none.
func (w *stepWords) kind(fold string) kind {
	if len(fold) < stemLength {
		return other
	}
	for _, v := range w.verbs[fold[:stemLength]] {
		if strings.HasPrefix(fold, v.stem) {
			return v.kind
		}
	}
	return other
}

// is reports whether a word of the document is in one of some sets.
func (x *extractor) is(word int, sets small) bool {
	return x.small.of(x.doc.Words[word].Fold)&sets != 0
}
