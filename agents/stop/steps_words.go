package stop

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
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
	needing
	starting
	asking
	fillers
	pronouns
	wide
	titles
)

var smallNames = []string{
	"introduction", "subjects", "persons", "clitics", "connectives", "then", "conjoining", "alternative", "causing",
	"with", "copulas", "after", "before", "needing", "starting", "asking", "fillers", "pronouns", "wide", "titles",
}

// stepWords are the words of the list.
type stepWords struct {
	sets map[string]small
	// verbs are the beginnings of verbs with the kind of work that they name.
	verbs map[string]kind
}

// smallWords reads the list at the first use.
var smallWords = sync.OnceValue(func() *stepWords {
	w := &stepWords{sets: map[string]small{}, verbs: map[string]kind{}}
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
				w.verbs[word] = kind(k)
			} else {
				w.sets[word] |= 1 << set
			}
		}
	}
	return w
})

// of returns the sets that a folded word is in.
func (w *stepWords) of(fold string) small { return w.sets[fold] }

// kind returns the kind of work of a folded word, other if it names none.
func (w *stepWords) kind(fold string) kind {
	for n := len(fold); n > 1; n-- {
		if k, ok := w.verbs[fold[:n]]; ok {
			return k
		}
	}
	return other
}

// is reports whether a word of the document is in one of some sets.
func (x *extractor) is(word int, sets small) bool {
	return x.small.of(x.doc.Words[word].Fold)&sets != 0
}

// verbSets are the sets of verbs of the lexicon, as bits of a word's number.
type verbSets struct {
	sets func(id int32) uint64
	// base may begin a task: infinitives and imperatives; any also a clause.
	base, any uint64
}

// workVerbs are the verbs of the lexicon.
var workVerbs = sync.OnceValue(func() verbSets {
	g := lexicon()
	mask := func(names ...string) uint64 {
		var m uint64
		for _, name := range names {
			m |= g.Set(name)
		}
		return m
	}
	base := mask("en.do", "en.goon", "en.talk", "fr.inf", "fr.goinf", "fr.talk")
	finite := mask("en.doing", "en.conting", "fr.goje", "fr.gonous", "fr.je", "fr.nous", "fr.vous", "fr.tu", "fr.il")
	return verbSets{sets: g.Sets, base: base, any: base | finite}
})

// begins reports whether a word is a verb that a task may begin with.
func (v verbSets) begins(w text.Word) bool { return w.ID > 0 && v.sets(w.ID)&v.base != 0 }

func (v verbSets) is(w text.Word) bool { return w.ID > 0 && v.sets(w.ID)&v.any != 0 }
