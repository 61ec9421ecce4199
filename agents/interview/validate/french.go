package validate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// In returns the finding in a language of interviews, for the model, with its words and their place.
func (f Finding) In(l session.Language) string {
	text, ok := french[f.Rule]
	if l != session.French || !ok {
		if f.Words != "" {
			return fmt.Sprintf("%s (%s: %q)", f.Message, f.Place, f.Words)
		}
		return f.Message
	}
	if f.Rule == ruleForbiddenZone && f.Warning {
		text = frenchHint
	}
	if f.Words != "" {
		text += " (" + strings.Replace(f.Place, "line", "ligne", 1) + " : « " + f.Words + " »)"
	}
	section := "le texte"
	if f.Section != "" {
		section = frenchSection(f.Section)
	}
	return strings.NewReplacer("{section}", section, "{count}", strconv.Itoa(f.Count), "{limit}", strconv.Itoa(f.Limit)).Replace(text)
}

// french contains the messages by rule.
//
//nolint:misspell // the texts are French
var french = map[Rule]string{
	ruleEmpty:         "le texte est vide",
	ruleEncoding:      "le texte n'est pas en UTF-8 valide",
	ruleTooLong:       "{section} compte {count} mots ; {limit} au plus",
	ruleCutOff:        "{section} s'arrête au milieu d'une phrase ; termine par un signe de ponctuation",
	ruleLanguage:      "le texte n'est pas en français ; écris-le en français",
	ruleForbiddenZone: "le texte touche à {section} ({count} fois) ; un entretien n'en parle pas",
	ruleSeparator:     "{section} contient le séparateur à l'intérieur d'une ligne ; il se place seul sur sa ligne",
	ruleQuestionCount: "le texte contient {count} question(s), et il en faut {limit} ; " + separator +
		" se place seul sur une ligne entre deux questions",
	ruleQuestionEmpty:    "{section} est vide",
	ruleNoQuestion:       "{count} passage(s) entre séparateurs ne posent aucune question ; n'écris que des questions",
	ruleQuestionSeveral:  "{section} pose {count} questions ; une seule à la fois",
	ruleOptionCount:      "{section} a {count} option(s), et la limite est {limit} ; chacune sur sa ligne",
	ruleOptionLetters:    "les lettres des options de {section} ne se suivent pas à partir de A",
	ruleOptionPacked:     "{section} a {count} ligne(s) avec plusieurs options ; chacune sur sa ligne",
	ruleOptionEmpty:      "une option de {section} est vide",
	ruleOptionDuplicate:  "deux options de {section} sont identiques",
	ruleMediumMissing:    "{section} ne parle pas du médium demandé",
	ruleMediumOther:      "{section} parle du médium que la personne n'a pas choisi",
	ruleOneWork:          "{section} doit demander une seule œuvre, celle qui compte le plus",
	ruleWorkMissing:      "il manque des œuvres de la personne ; nomme chacune par son titre, comme dans le message de données",
	ruleCharacterMissing: "{section} ne nomme aucun personnage des œuvres",
	ruleTraitGeneric: "une option de {section} conviendrait à n'importe quel personnage ; " +
		"montre une scène, un objet, un geste ou une décision de celui-ci",
	ruleSectionMissing: "il manque {section}",
	ruleSectionDoubled: "{section} figure {count} fois ; une seule suffit",
	ruleSectionOrder:   "les sections ne sont pas dans l'ordre demandé",
	ruleSectionEmpty:   "{section} ne dit rien de cette personne ; écris ce qu'elle a fait, dit ou choisi",
	ruleSectionWords:   "{section} compte {count} mots sans son titre ; {limit} au plus",
	ruleStrayText:      "{count} mot(s) n'appartiennent à aucune section ; n'écris rien en dehors des sections",
	ruleOpenValidation: "{section} doit être, mot pour mot, la phrase qui demande si c'est juste",
	ruleLineCount:      "le miroir a {count} ligne(s), et la limite est {limit}",
	ruleAddress:        "le texte tutoie et vouvoie la même personne ; garde une seule adresse",
	ruleScore:          "le texte note ou classe la personne ; décris sans note, pourcentage ni rang",
	ruleVigilance:      "le miroir a {count} point(s) de vigilance ; il en faut un seul, sur une ligne qui commence ainsi",
	ruleStatusMissing:  "aucune ligne ne donne le statut ; copie l'un des trois statuts, seul sur sa ligne",
	ruleStatusSeveral:  "{count} lignes donnent un statut ; une seule est permise",
	ruleStatusConflict: "une ligne porte le signe d'un statut avec d'autres mots ; le statut se place seul sur sa ligne",
}

const frenchHint = "le texte semble interroger à mots couverts sur {section} ({count} fois) ; un entretien n'en parle pas"

// frenchSections are the names of sections and zones.
var frenchSections = map[string]string{
	"the question":                      "la question",
	"section 1 (implicit reading)":      "la section 1 (lecture implicite)",
	"section 2 (personal deduction)":    "la section 2 (déduction personnalisée)",
	"section 3 (open validation)":       "la section 3 (validation ouverte)",
	"the point on the core of the work": "le point « Rapport au cœur du métier »",
	"the point on duration":             "le point « Rapport à la durée »",
	"the point on overall coherence":    "le point « Cohérence globale »",
	"the compatibility reading":         "le titre « Lecture de compatibilité »",
	"🔥 what sets in motion":             "la section 🔥 (mouvement)",
	"🧱 lasting over time":               "la section 🧱 (temps)",
	"⚖️ values":                         "la section ⚖️ (valeurs)",
	"🧩 projections":                     "la section 🧩 (projections)",
	"🛠️ strengths and limits":           "la section 🛠️ (forces et limites)",
	"🎯 professional position":           "la section 🎯 (positionnement)",
	"🧠 emotional summary":               "la section 🧠 (synthèse)",
	"origin":                            "l'origine de la personne",
	"religion":                          "la religion",
	"politics":                          "la politique",
	"health":                            "la santé",
	"disability":                        "le handicap",
	"sexuality":                         "la sexualité",
	"union":                             "l'engagement syndical",
	"trauma":                            "un traumatisme",
	"pathology":                         "un trouble psychique",
	"family":                            "la situation de famille",
	"age":                               "l'âge",
	"private":                           "la vie privée",
}

// frenchSection returns the name of a section; "question 3" is the same in both.
func frenchSection(section string) string {
	if name, ok := frenchSections[section]; ok {
		return name
	}
	if strings.HasPrefix(section, "question ") {
		return "la " + section
	}
	return "le texte"
}
