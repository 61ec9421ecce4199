package loop

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// The values of Options.Contract other than a text.
const (
	AutoContract = "auto"
	NoContract   = "off"
)

// Language is a language of the instructions for an agent.
type Language string

// The languages.
const (
	English Language = "en"
	French  Language = "fr"
)

// resolveContract returns the text of the contract, empty if it is off, and the default of ContinuePrompt.
// It sets Language if the prompt is French.
func (s *Settings) resolveContract() (contract, goOn string) {
	in := cmp.Or(s.Language, English)
	if s.Contract == AutoContract && s.Language == "" {
		in = LanguageOf(s.Prompt)
		if in == French {
			s.Language = French
		}
	}
	switch s.Contract {
	case AutoContract:
		contract = s.howToEnd(in, true)
	case NoContract:
	default:
		contract = s.Contract
	}
	goOn = "Continue with the task."
	if in == French {
		goOn = "Continue la tâche."
	}
	return contract, goOn + " " + cmp.Or(contract, s.howToEnd(in, false))
}

// LanguageOf returns French if the stop guard reads most of the text as French, else English.
func LanguageOf(text string) Language {
	if text == "" {
		return English // the defaults are resolved at the start of each command, which must not load the guard
	}
	const enough = 4 << 10 // bytes; the language of a long prompt is that of its beginning
	if stop.Judge(stop.Clip(text, enough), stop.Options{}).Language == string(French) {
		return French
	}
	return English
}

// howToEnd returns instructions for the agent: how to report that everything is finished, that it needs a
// person and, if left is true or in json mode, that work is left.
func (s *Settings) howToEnd(in Language, left bool) string {
	words := howToEnd[in]
	if s.Mode == JSON {
		return words.json
	}
	end := fmt.Sprintf(words.marker, s.Marker)
	unless := words.unlessMarker
	if s.Mode == Answer {
		end, unless = words.answer, words.unlessAnswer
	}
	if left {
		end += " " + unless
	}
	return end + " " + fmt.Sprintf(words.person, s.BlockedMarker)
}

// instructions are the sentences of a contract in one language.
type instructions struct {
	marker, unlessMarker string
	answer, unlessAnswer string
	person               string
	json                 string
}

var howToEnd = map[Language]instructions{
	English: {
		marker:       "When everything is finished, write %s on a line of its own.",
		unlessMarker: "While work is left, do not write it, and say what is left.",
		answer:       "When everything is finished, say what was done.",
		unlessAnswer: "While work is left, say what is left.",
		person:       "If you need a person, write a line that begins with %s and say why.",
		json: `End your answer with a JSON object: {"status": "continue", "summary": "..."} while work is left, ` +
			`status "done" when everything is finished, or "blocked" if you need a person.`,
	},
	French: {
		marker:       "Quand tout est terminé, écris %s seul sur une ligne.",
		unlessMarker: "Tant qu'il reste du travail, ne l'écris pas et dis ce qui reste.",
		answer:       "Quand tout est terminé, dis ce qui a été fait.",
		unlessAnswer: "Tant qu'il reste du travail, dis ce qui reste.",
		person:       "Si tu as besoin d'une personne, écris une ligne qui commence par %s et dis pourquoi.",
		json: `Termine ta réponse par un objet JSON : {"status": "continue", "summary": "..."} tant qu'il reste du travail, ` +
			`le statut "done" quand tout est terminé, ou "blocked" si tu as besoin d'une personne.`,
	},
}

// paragraphs joins the texts that are not empty with empty lines.
func paragraphs(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		if text = strings.TrimRight(text, "\n"); text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(text)
	}
	return b.String()
}
