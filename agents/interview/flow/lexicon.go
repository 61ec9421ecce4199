package flow

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed lexicon.txt
var lexiconText string

var lexicon = readLexicon(lexiconText)

var (
	idioms, negations, preferences = list("idioms"), list("negations"), list("preferences")
	afterthoughts, spoils          = list("afterthoughts"), list("spoils")
	comparisons, thans             = list("comparisons"), list("thans")
	articles, reasons              = list("articles"), list("reasons")

	naming, chosen, afterLetter = list("naming"), list("chosen"), list("after-letter")
	sayTu, theTu, tuIsFine      = list("say-tu"), list("the-tu"), list("tu-is-fine")

	leads, leadsOn        = list("leads"), list("leads-on")
	openers, softOpeners  = list("openers"), list("soft-openers")
	abbreviations         = list("abbreviations")
	remarks, introduces   = list("remarks"), list("introduces")
	nothing               = list("nothing")
	lastPlace, afterPlace = list("last"), list("after-place")
	places                = []phrases{list("place-1"), list("place-2"), list("place-3"), list("place-4"), list("place-5")}
)

// readLexicon reads lines such as "name: phrase, phrase"; indented lines go on.
func readLexicon(text string) map[string]phrases {
	lists := map[string]phrases{}
	name := ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if head, rest, ok := strings.Cut(line, ":"); ok {
			name, line = head, rest
		}
		lists[name] = lists[name].with(line)
	}
	return lists
}

func list(name string) phrases {
	found, ok := lexicon[name]
	if !ok {
		panic(fmt.Sprintf("flow: lexicon.txt has no list %q", name))
	}
	return found
}
