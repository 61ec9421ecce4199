package web

import "github.com/rehearse-dev/rehearse/agents/interview/session"

// pageTexts are the texts of the pages in one language. They avoid forms of address, because the
// candidate chooses one during the interview.
type pageTexts struct {
	Name, Title, Lead, Promise, Language, Candidate, CandidateHint, Begin string

	Skip, Progress, Start, Block, Question, Of, Part   string
	Mirror, Preamble, Profile, Matching, Opening, Done string

	History, You, Interviewer               string
	Choose, OwnWords, Answer, Comment       string
	Send, Keys, Nothing, Ready, ShowMatch   string
	Retry, Continue, Kept, Thinking, Slow   string
	Owed, Offline, Thanks, Again, Unsent    string
	NotFoundTitle, ErrorTitle, Reload, Lost string

	// Problems maps codes of problems to texts; "" is the default.
	Problems map[string]string
}

// languageNames are the names of the languages, each in its own language.
var languageNames = map[session.Language]string{session.French: "Français", session.English: "English"}

// catalog contains the texts of the pages.
var catalog = map[session.Language]pageTexts{
	session.English: {
		Name:  "Interview",
		Title: "One question at a time",
		Lead: "A conversation in ten parts, about how a person works: what gives energy, what matters, what lasts. There are no " +
			"right answers.",
		Promise: "Every answer is saved as soon as it is sent. It is possible to stop at any time and to come back later at the same address.",

		Language: "Language of the interview", Candidate: "Identifier (optional)",
		CandidateHint: "Only if one was given: letters, digits, dots, dashes.", Begin: "Begin the interview",

		Skip: "Skip to the current message", Progress: "Progress", Start: "Getting started",
		Block: "Part", Question: "Question", Of: "of", Part: "section",
		Mirror: "What I understood", Preamble: "Before we begin", Profile: "The portrait", Matching: "The match", Opening: "Welcome",
		Done: "Interview complete",

		History: "Earlier in this interview", You: "Answer", Interviewer: "Interviewer",
		Choose: "Choose one", OwnWords: "Anything to add, in other words (optional)", Answer: "Answer",
		Comment: "A comment: does it ring true? Is something missing?",
		Send:    "Send", Keys: "Ctrl + Enter also sends.", Nothing: "Nothing to add", Ready: "Ready to continue", ShowMatch: "See the match",
		Retry: "Try again", Continue: "Continue",
		Kept:     "Answers are saved as they are sent. This address leads back here at any time.",
		Thinking: "Reading the answer and writing what comes next…", Slow: "Still writing. This can take up to a minute.",
		Owed:    "The answer is saved. The next message has not been written yet.",
		Offline: "The server cannot be reached. The text below is not lost: try again in a moment.",
		Thanks:  "That was the last question. Thank you for the time and the trust.", Again: "Keep a copy: print this page.",
		Unsent:        "This question was already answered, perhaps in another window. The text just sent was not saved:",
		NotFoundTitle: "There is nothing here", ErrorTitle: "That did not work",
		Reload: "Back to the interview", Lost: "Check the address, or begin a new interview.",
		Problems: map[string]string{
			"":                  "Something went wrong on the server. Earlier answers are saved.",
			"empty_answer":      "The answer is empty. A few words, or one of the choices, are enough.",
			"answer_too_long":   "The answer is too long. It is still below: shorten it and send it again.",
			"body_too_large":    "The answer is too long. Shorten it and send it again.",
			"control_character": "The answer contains characters that cannot be saved. Write it again without special characters.",
			"not_utf8":          "The answer contains characters that cannot be saved. Write it again without special characters.",
			"out_of_order":      "The interview has continued in the meantime. This is the current message.",
			"finished":          "The interview is complete. Nothing else was saved.",
			"busy":              "The previous answer is still being read. Wait a moment, then try again.",
			"backend_failed": "The answer is saved, but the next message could not be written: the writing service does not respond. " +
				"Try again in a moment.",
			"reply_invalid": "The answer is saved, but the next message was not good enough to be shown. Trying again usually helps.",
			"session_limit": "The answer is saved, but this interview has reached its limit, and nothing more can be written. Please " +
				"contact whoever invited you.",
			"budget_spent": "For today, everything that can be written has been written. Everything that was sent is saved. The interview " +
				"goes on from tomorrow, at this same address: please come back then.",
			"too_many_starts": "Too many interviews were begun in a short time. Try again in a minute.",
			"store_failed":    "The answer could not be saved. It is still below: send it again in a moment.",
			"unknown_session": "There is no interview at this address.",
			"not_found":       "There is no page at this address.",
			"invalid": "The identifier may contain letters, digits, dots, dashes and underscores, and must begin with a letter or a " +
				"digit; at most 64 characters.",
			"cross_origin": "This request came from another site and was rejected.",
			"deleted_session": "This interview was deleted with all its answers: by the candidate, by whoever proposed it, or because it " +
				"was not used for a long time.",
			"bad_link": "This link does not open an interview here. Perhaps a part of it is missing: it has to be copied as a " +
				"whole. A code works too.",
			"expired_link":   "This personal link has expired. The interview is still there: a code opens it, or whoever proposed it can help.",
			"bad_code":       "This identifier and this code do not belong together. Perhaps one letter is different?",
			"too_many_tries": "There were many attempts in a short time. Try again in a minute.",
			"not_confirmed":  "Nothing was deleted. Tick the box to confirm.",
		},
	},
	session.French: {
		Name:  "Entretien",
		Title: "Une question à la fois",
		Lead: "Une conversation en dix parties sur une manière de travailler : ce qui donne de l'énergie, ce qui compte, ce qui " +
			"dure. Il n'y a pas de bonne réponse.",
		Promise: "Chaque réponse est conservée dès son envoi. Il est possible de s'arrêter à tout moment, et de revenir plus tard à " +
			"la même adresse.",

		Language: "Langue de l'entretien", Candidate: "Identifiant (facultatif)",
		CandidateHint: "Seulement s'il a été fourni : lettres, chiffres, points, tirets.", Begin: "Commencer l'entretien",

		Skip: "Aller au message actuel", Progress: "Progression", Start: "Pour commencer",
		Block: "Partie", Question: "Question", Of: "sur", Part: "section",
		Mirror: "Ce que j'ai compris", Preamble: "Avant de commencer", Profile: "Le portrait", Matching: "La compatibilité", Opening: "Bienvenue",
		Done: "Entretien terminé",

		History: "Plus tôt dans cet entretien", You: "Réponse", Interviewer: "Entretien",
		Choose: "Un seul choix", OwnWords: "Quelque chose à ajouter, en d'autres mots (facultatif)", Answer: "Réponse",
		Comment: "Un commentaire : est-ce juste, manque-t-il quelque chose ?",
		Send:    "Envoyer", Keys: "Ctrl + Entrée envoie aussi.", Nothing: "Rien à ajouter", Ready: "C'est parti", ShowMatch: "Voir la " +
			"compatibilité",
		Retry: "Réessayer", Continue: "Continuer",
		Kept:     "Les réponses sont conservées à chaque envoi. Cette adresse ramène ici à tout moment.",
		Thinking: "Lecture de la réponse, écriture de la suite…", Slow: "L'écriture continue. Cela prend jusqu'à une minute.",
		Owed:    "La réponse est conservée. Le message suivant reste à écrire.",
		Offline: "Le serveur ne répond pas. Le texte est toujours là : réessayer dans un instant.",
		Thanks:  "C'était la dernière question. Merci pour le temps et la confiance.", Again: "Pour en garder une copie : imprimer cette page.",
		Unsent: "Cette question avait déjà sa réponse, peut-être dans une autre fenêtre. Ce qui vient d'être envoyé n'a pas " +
			"été conservé :",
		NotFoundTitle: "Il n'y a rien ici", ErrorTitle: "Cela n'a pas fonctionné",
		Reload: "Retour à l'entretien", Lost: "Vérifier l'adresse, ou commencer un nouvel entretien.",
		Problems: map[string]string{
			"":                  "Une erreur est survenue sur le serveur. Ce qui avait été envoyé est conservé.",
			"empty_answer":      "La réponse est vide. Quelques mots, ou un des choix, suffisent.",
			"answer_too_long":   "La réponse est trop longue pour être conservée. Elle est toujours là : la raccourcir et la renvoyer.",
			"body_too_large":    "La réponse est trop longue pour être conservée. La raccourcir et la renvoyer.",
			"control_character": "La réponse contient des caractères qui ne peuvent pas être conservés. La réécrire sans caractères spéciaux.",
			"not_utf8":          "La réponse contient des caractères qui ne peuvent pas être conservés. La réécrire sans caractères spéciaux.",
			"out_of_order":      "L'entretien a continué entre-temps. Voici où il en est.",
			"finished":          "L'entretien est terminé. Rien de plus n'a été conservé.",
			"busy":              "La réponse précédente est encore en lecture. Attendre un instant, puis réessayer.",
			"backend_failed": "La réponse est conservée, mais la suite n'a pas pu être écrite : le service d'écriture ne répond pas. " +
				"Réessayer dans un instant.",
			"reply_invalid": "La réponse est conservée, mais la suite n'est pas assez réussie pour être montrée. Réessayer suffit en général.",
			"session_limit": "La réponse est conservée, mais cet entretien a atteint sa limite : la suite ne peut plus être écrite. " +
				"Contacter la personne qui a proposé l'entretien.",
			"budget_spent": "Pour aujourd'hui, tout ce qui pouvait être écrit l'a été. Tout ce qui a été envoyé est conservé. L'entretien " +
				"reprend dès demain, à cette même adresse : à demain.",
			"too_many_starts": "Trop d'entretiens ont commencé en peu de temps. Réessayer dans une minute.",
			"store_failed":    "La réponse n'a pas pu être conservée. Elle est toujours là : la renvoyer dans un instant.",
			"unknown_session": "Il n'y a pas d'entretien à cette adresse.",
			"not_found":       "Il n'y a pas de page à cette adresse.",
			"invalid": "L'identifiant peut contenir lettres, chiffres, points, tirets et tirets bas, et commence par une " +
				"lettre ou un chiffre ; 64 au plus.",
			"cross_origin": "Cette demande vient d'un autre site et n'a pas été exécutée.",
			"deleted_session": "Cet entretien a été supprimé avec toutes ses réponses : depuis sa page, par la personne qui l'a proposé, ou " +
				"parce qu'il n'avait pas servi depuis longtemps.",
			"bad_link": "Ce lien n'ouvre pas d'entretien ici. Il en manque peut-être un morceau : il faut le copier en entier. Un code " +
				"fonctionne aussi.",
			"expired_link": "Ce lien personnel a expiré. L'entretien est toujours là : un code l'ouvre, et la personne qui l'a proposé " +
				"peut aider.",
			"bad_code":       "Cet identifiant et ce code ne vont pas ensemble. Une lettre est peut-être différente ?",
			"too_many_tries": "Cela fait beaucoup d'essais en peu de temps. Réessayer dans une minute.",
			"not_confirmed":  "Rien n'a été supprimé. Cocher la case pour confirmer.",
		},
	},
}

// textsIn returns the texts of a language, or the French ones for an unknown language.
func textsIn(l session.Language) pageTexts {
	if w, ok := catalog[l]; ok {
		return w
	}
	return catalog[session.French]
}

func (w pageTexts) problem(code string) string {
	if text, ok := w.Problems[code]; ok {
		return text
	}
	return w.Problems[""]
}
