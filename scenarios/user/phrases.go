package user

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
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
	if p.fact != "" && !slices.ContainsFunc(textfold.Fold(name), mayBePlural) {
		return strings.NewReplacer("{name}", name, "{value}", value).Replace(p.fact)
	}
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:] + p.colon + value + "."
}
