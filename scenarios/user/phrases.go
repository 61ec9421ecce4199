package user

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// phrases are the texts of a language that a file need not give.
type phrases struct {
	fact      string // has the name and the value
	silence   string // the answer to an empty answer
	closing   string
	otherwise []string
	// requests are the words of sentences that ask for something without a question mark, folded.
	requests map[string]bool
	// denials are the words by which such a sentence asks for nothing, folded, unless it has one of reminders: "do not
	// forget to send …".
	denials, reminders map[string]bool
}

var languages = map[string]phrases{
	"en": {
		fact: "The {name} is {value}.", silence: "Hello? Are you still there?", closing: "I give up. Goodbye.",
		otherwise: []string{"That does not answer my question.", "That does not help me.", "I still need this solved."},
		requests:  textfold.WordSet("what which provide give tell send share enter need specify confirm know"),
		denials:   textfold.WordSet("not never no without cannot don doesn didn won"),
		reminders: textfold.WordSet("forget hesitate"),
	},
	"fr": {
		fact: "Voici : {name}, {value}.", silence: "Bonjour ? Vous êtes toujours là ?", closing: "J'abandonne. Au revoir.",
		otherwise: []string{"Cela ne répond pas à ma question.", "Cela ne m'aide pas.", "Mon problème n'est toujours pas réglé."},
		requests: textfold.WordSet("quel quelle quels quelles donner donnez indiquer indiquez fournir fournissez envoyer envoyez " +
			"communiquer communiquez preciser precisez besoin saisir saisissez confirmer confirmez"),
		denials:   textfold.WordSet("pas jamais sans aucun aucune inutile"),
		reminders: textfold.WordSet("oublier oubliez hesiter hesitez"),
	},
}

// asks reports whether a reply asks for a fact by its name: a sentence has all words of the name, in the singular or in the
// plural, is a question or a request, and does not have the fact itself.
func (p *phrases) asks(reply, name, value string) bool {
	wanted := textfold.Fold(name)
	for _, sentence := range sentences(reply) {
		words := textfold.Fold(sentence)
		if (strings.HasSuffix(sentence, "?") || p.requested(words)) && hasAll(words, wanted) && !containsWhole(sentence, value) {
			return true
		}
	}
	return false
}

// requested reports whether the words of a sentence without a question mark ask for something.
func (p *phrases) requested(words []string) bool {
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(words, func(word string) bool { return set[word] })
	}
	return has(p.requests) && (!has(p.denials) || has(p.reminders))
}

func hasAll(words, wanted []string) bool {
	for _, w := range wanted {
		if !slices.ContainsFunc(words, func(word string) bool { return isPlural(w, word) || isPlural(word, w) }) {
			return false
		}
	}
	return true
}

// isPlural reports whether a word is another one or its regular plural, in English or French.
func isPlural(one, many string) bool {
	ending, ok := strings.CutPrefix(many, one)
	if !ok {
		stem, ok := strings.CutSuffix(one, "y")
		return ok && many == stem+"ies"
	}
	return ending == "" || ending == "s" || ending == "es" || ending == "x" && strings.HasSuffix(one, "u")
}

// sentences splits a text after each question mark, exclamation mark and full stop before white
// space, and at each line break.
func sentences(text string) (all []string) {
	start := 0
	add := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			all = append(all, s)
		}
		start = end
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n', c == '?', c == '!':
			add(i + 1)
		case c == '.' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t'):
			add(i + 1)
		}
	}
	add(len(text))
	return all
}
