package user

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// phrases are the texts of a language that a file need not give.
type phrases struct {
	fact      string // has the name and the value; empty if no sentence agrees with every name
	colon     string // between a name and its value
	silence   string // the answer to an empty answer
	closing   string
	otherwise []string
	grammar   func() *grammar
}

var languages = map[string]phrases{
	"en": {
		fact: "The {name} is {value}.", colon: ": ", silence: "Hello? Are you still there?", closing: "I give up. Goodbye.",
		otherwise: []string{"That does not answer my question.", "That does not help me.", "I still need this solved."},
		grammar:   grammarOf(englishLexicon),
	},
	"fr": {
		colon: " : ", silence: "Bonjour ? Vous êtes toujours là ?", closing: "J'abandonne. Au revoir.",
		otherwise: []string{"Cela ne répond pas à ma question.", "Cela ne m'aide pas.", "Mon problème n'est toujours pas réglé."},
		grammar:   grammarOf(frenchLexicon),
	},
}

// sentence returns a fact as a sentence: "The city is Lyon.", or "Children: 3." if the name may be a plural.
func (p *phrases) sentence(name, value string) string {
	plural := strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss")
	for ending := range slices.Chunk(plurals, 2) {
		plural = plural || strings.HasSuffix(name, ending[1])
	}
	if p.fact != "" && !plural {
		return strings.NewReplacer("{name}", name, "{value}", value).Replace(p.fact)
	}
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:] + p.colon + value + "."
}
