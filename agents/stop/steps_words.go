package stop

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed lexicon/steps.txt
var stepWordsText string

// words is a set of folded words.
type words map[string]bool

// smallWords are the words that the extraction of steps turns on. The list says
// what each set means.
type smallWords struct {
	introduction, subjects, persons, with, clitics, connectives, conjoining, alternative, conditions, copulas words
	after, before, asking, fillers, pronouns, wide                                                            words

	// kinds are the beginnings of the verbs of each kind of work.
	kinds [report + 1][]string
}

// small reads the list at the first use.
var small = sync.OnceValue(func() *smallWords {
	lists := map[string][]string{}
	for line := range strings.Lines(stepWordsText) {
		if name, list, ok := strings.Cut(line, ":"); ok && line[0] != '#' {
			lists[name] = append(lists[name], strings.Fields(list)...)
		}
	}
	set := func(name string) words {
		w := words{}
		for _, word := range lists[name] {
			w[word] = true
		}
		return w
	}
	return &smallWords{
		introduction: set("introduction"), subjects: set("subjects"), persons: set("persons"), with: set("with"), clitics: set("clitics"), connectives: set("connectives"),
		conjoining: set("conjoining"), alternative: set("alternative"), conditions: set("conditions"), copulas: set("copulas"),
		after: set("after"), before: set("before"), asking: set("asking"), fillers: set("fillers"), pronouns: set("pronouns"),
		wide: set("wide"),
		kinds: [...][]string{
			check: lists["check"], edit: lists["edit"], create: lists["create"], rebuild: lists["rebuild"],
			describe: lists["describe"], deliver: lists["deliver"], report: lists["report"],
		},
	}
})
