package web

import (
	"encoding/json"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// pageTexts are the texts of the pages in one language. The interviewer speaks in them, in the form of
// address that the candidate chose: [[informal|formal]], and formally before the choice.
type pageTexts struct {
	Name, Title, Lead, Promise, Language, Jobs, Candidate, CandidateHint, Begin string

	Invitation, InvitationHint string

	Skip, Start, Block, Question, Of, Part             string
	Mirror, Preamble, Profile, Matching, Opening, Done string

	History, You                          string
	Choose, OwnWords, Answer, Comment     string
	Send, Keys, Nothing, Ready, ShowMatch string
	Retry, Continue, Kept, Thinking, Slow string
	Owed, Offline, Thanks, Again, Unsent  string
	NotFoundTitle, ErrorTitle, Lost       string

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
		Lead: "A conversation about how you work: what gives you energy, what matters to you, what lasts. Nine blocks of questions, " +
			"then a portrait. There are no right answers.",
		Promise: "Every answer is saved as soon as you send it. Stop whenever you like, and come back later to the same address.",

		Jobs:       "For which job?",
		Invitation: "Your invitation", InvitationHint: "It is part of the link that you received.",
		Language: "Language of the interview", Candidate: "Your identifier (optional)",
		CandidateHint: "Only if you were given one: letters, digits, dots, dashes.", Begin: "Begin the interview",

		Skip: "Skip to the current message", Start: "Getting started",
		Block: "Block", Question: "Question", Of: "of", Part: "part",
		Mirror: "What I understood", Preamble: "Before we begin", Profile: "Your portrait", Matching: "The match", Opening: "Welcome",
		Done: "Interview complete",

		History: "Earlier in this interview", You: "Your answer",
		Choose: "Choose one", OwnWords: "Anything to add? (optional)", Answer: "Your answer",
		Comment: "Your view: a nuance, a correction, or simply yes",
		Send:    "Send", Keys: "Ctrl + Enter also sends.", Nothing: "Nothing to add", Ready: "Ready to continue", ShowMatch: "See the match",
		Retry: "Try again", Continue: "Continue",
		Kept:     "Your answers are saved as you send them. You can come back to this address at any time.",
		Thinking: "I am reading your answer and writing what comes next…", Slow: "I am still writing. This can take up to a minute.",
		Owed:    "Your answer is saved. I have not written the next message yet.",
		Offline: "I cannot reach the server. Your text is still here: try again in a moment.",
		Thanks:  "That was the last question. Thank you for your time and your trust.", Again: "To keep a copy, print this page.",
		Unsent:        "This question already had an answer, perhaps from another window. What you just sent was not saved:",
		NotFoundTitle: "There is nothing here", ErrorTitle: "That did not work",
		Lost: "Check the address, or begin a new interview.",
		Problems: map[string]string{
			"":                  "Something went wrong on our side. What you had sent is saved.",
			"empty_answer":      "There is no answer yet. A few words, or one of the choices, are enough.",
			"answer_too_long":   "Your answer is too long to be saved. It is still here: shorten it and send it again.",
			"body_too_large":    "Your answer is too long to be saved. Shorten it and send it again.",
			"control_character": "Your answer contains characters that cannot be saved. Write it again without special characters.",
			"not_utf8":          "Your answer contains characters that cannot be saved. Write it again without special characters.",
			"out_of_order":      "The interview has moved on in the meantime. This is where you are.",
			"finished":          "The interview is complete. Nothing else was saved.",
			"busy":              "I am still reading your previous answer. Wait a moment, then try again.",
			"backend_failed": "Your answer is saved, but I could not write the next message: the writing service does not respond. " +
				"Try again in a moment.",
			"reply_invalid": "Your answer is saved, but what I wrote next was not good enough to show you. Trying again usually helps.",
			"session_limit": "Your answer is saved, but this interview has reached its limit and I cannot write any more. Please " +
				"contact whoever invited you.",
			"budget_spent": "That is all I can write today. Everything you sent is saved. The interview goes on from tomorrow, at this " +
				"same address.",
			"invitation_needed": "This interview needs an invitation. Please open the link that you received: it contains yours.",
			"invitation_invalid": "This invitation cannot begin an interview: it was used before, has expired or was withdrawn. To go on with " +
				"your interview, use its own address. For a new invitation, please contact whoever sent you this one.",
			"invitation_job":  "This invitation is for another job. Open the link that you received: it leads to the right one.",
			"too_many_starts": "Too many interviews were started in a short time. Try again in a minute.",
			"store_failed":    "Your answer could not be saved. It is still here: send it again in a moment.",
			"unknown_session": "There is no interview at this address.",
			"unknown_job":     "There is no job at this address.",
			"not_found":       "There is no page at this address.",
			"invalid": "The identifier may contain letters, digits, dots, dashes and underscores. It begins with a letter or a " +
				"digit and has at most 64 characters.",
			"cross_origin": "This request came from another site, so I did not follow it.",
			"deleted_session": "This interview was deleted with all its answers: by you, by whoever invited you, or because it had not " +
				"been used for a long time.",
			"bad_link":    "This link does not open an interview here. Perhaps a part of it is missing: copy all of it. A code works too.",
			"bad_share":   "No audit has this link. Perhaps a part of it is missing, or the interview was deleted.",
			"ended_share": "This link to an audit has expired or was withdrawn. Whoever sent it can make a new one.",
			"expired_address": "The interview is complete, and this address no longer opens it, to protect what was said in it. The " +
				"browser in which it ended still does, and so do your personal link and a code.",
			"expired_link": "This personal link has expired. The interview is still there: a code opens it, or whoever invited you can " +
				"help.",
			"bad_code":       "This identifier and this code do not belong together. Perhaps one letter is different?",
			"too_many_tries": "There were many attempts in a short time. Try again in a minute.",
			"locked_code":    "Too many wrong codes were tried today, so the code is blocked until tomorrow. Your personal link still works.",
			"not_confirmed":  "Nothing was deleted. Tick the box to confirm.",
		},
	},
	session.French: {
		Name:  "Entretien",
		Title: "Une question à la fois",
		Lead: "Une conversation sur votre façon de travailler : ce qui vous donne de l'énergie, ce qui compte pour vous, ce qui dure. " +
			"Neuf blocs de questions, puis un portrait. Il n'y a pas de bonne réponse.",
		Promise: "Chaque réponse est enregistrée dès que vous l'envoyez. Vous pouvez vous arrêter quand vous voulez, et revenir plus " +
			"tard à la même adresse.",

		Jobs:       "Pour quel poste ?",
		Invitation: "[[Ton|Votre]] invitation", InvitationHint: "Elle fait partie du lien que [[tu as|vous avez]] reçu.",
		Language: "Langue de l'entretien", Candidate: "Votre identifiant (facultatif)",
		CandidateHint: "Seulement si vous en avez reçu un : lettres, chiffres, points, tirets.", Begin: "Commencer l'entretien",

		Skip: "Aller au message actuel", Start: "Pour commencer",
		Block: "Bloc", Question: "Question", Of: "sur", Part: "partie",
		Mirror: "Ce que j'ai compris", Preamble: "Avant de commencer", Profile: "[[Ton|Votre]] portrait",
		Matching: "La compatibilité", Opening: "Bienvenue",
		Done: "Entretien terminé",

		History: "Plus tôt dans cet entretien", You: "[[Ta|Votre]] réponse",
		Choose: "Un seul choix", OwnWords: "Quelque chose à ajouter ? (facultatif)", Answer: "[[Ta|Votre]] réponse",
		Comment: "[[Ton|Votre]] avis : une nuance, une correction, ou simplement oui",
		Send:    "Envoyer", Keys: "Ctrl + Entrée envoie aussi.", Nothing: "Rien à ajouter", Ready: "C'est parti", ShowMatch: "Voir la " +
			"compatibilité",
		Retry: "Réessayer", Continue: "Continuer",
		Kept:     "[[Tes|Vos]] réponses sont enregistrées à chaque envoi. [[Tu peux|Vous pouvez]] revenir à cette adresse à tout moment.",
		Thinking: "Je lis [[ta|votre]] réponse et j'écris la suite…", Slow: "J'écris encore. Cela prend parfois une minute.",
		Owed:    "[[Ta|Votre]] réponse est enregistrée. Il me reste à écrire la suite.",
		Offline: "Le serveur ne répond pas. [[Ton|Votre]] texte est toujours là : [[réessaie|réessayez]] dans un instant.",
		Thanks:  "C'était la dernière question. Merci pour [[ton|votre]] temps et [[ta|votre]] confiance.",
		Again:   "Pour en garder une copie, [[imprime|imprimez]] cette page.",
		Unsent: "Cette question avait déjà une réponse, peut-être dans une autre fenêtre. Ce que [[tu viens|vous venez]] d'envoyer " +
			"n'a pas été enregistré :",
		NotFoundTitle: "Il n'y a rien ici", ErrorTitle: "Cela n'a pas fonctionné",
		Lost: "Vérifiez l'adresse, ou commencez un nouvel entretien.",
		Problems: map[string]string{
			"":             "Quelque chose s'est mal passé de notre côté. Ce que [[tu avais|vous aviez]] envoyé est enregistré.",
			"empty_answer": "Il n'y a pas encore de réponse. Quelques mots suffisent, ou un des choix.",
			"answer_too_long": "[[Ta|Votre]] réponse est trop longue pour être enregistrée. Elle est toujours là : [[raccourcis-la et " +
				"renvoie-la|raccourcissez-la et renvoyez-la]].",
			"body_too_large": "[[Ta|Votre]] réponse est trop longue pour être enregistrée. [[Raccourcis-la et renvoie-la|Raccourcissez-la et " +
				"renvoyez-la]].",
			"control_character": "[[Ta|Votre]] réponse contient des caractères qui ne peuvent pas être enregistrés. [[Réécris-la|Réécrivez-la]] " +
				"sans caractères spéciaux.",
			"not_utf8": "[[Ta|Votre]] réponse contient des caractères qui ne peuvent pas être enregistrés. [[Réécris-la|Réécrivez-la]] sans " +
				"caractères spéciaux.",
			"out_of_order": "L'entretien a avancé entre-temps. Voici où [[tu en es|vous en êtes]].",
			"finished":     "L'entretien est terminé. Rien d'autre n'a été enregistré.",
			"busy":         "Je lis encore [[ta|votre]] réponse précédente. [[Attends|Attendez]] un instant, puis [[réessaie|réessayez]].",
			"backend_failed": "[[Ta|Votre]] réponse est enregistrée, mais je n'ai pas pu écrire la suite : le service d'écriture ne répond " +
				"pas. [[Réessaie|Réessayez]] dans un instant.",
			"reply_invalid": "[[Ta|Votre]] réponse est enregistrée, mais la suite que j'ai écrite n'était pas à la hauteur. " +
				"Il suffit en général de réessayer.",
			"session_limit": "[[Ta|Votre]] réponse est enregistrée, mais cet entretien a atteint sa limite et je ne peux plus écrire la " +
				"suite. [[Contacte|Contactez]] la personne qui a proposé l'entretien.",
			"budget_spent": "C'est tout ce que je peux écrire aujourd'hui. Ce que [[tu as|vous avez]] envoyé est enregistré. L'entretien " +
				"reprend dès demain, à cette même adresse : à demain !",
			"invitation_needed": "Cet entretien se fait sur invitation : le lien que [[tu as|vous avez]] reçu la contient.",
			"invitation_invalid": "Cette invitation ne permet pas de commencer un entretien : elle a déjà servi, a expiré ou a été retirée. " +
				"Pour reprendre [[ton|votre]] entretien, [[utilise|utilisez]] son adresse. Pour une nouvelle invitation, [[contacte|contactez]] la " +
				"personne qui l'a envoyée.",
			"invitation_job":  "Cette invitation concerne un autre poste : le lien qui l'accompagne y mène.",
			"too_many_starts": "Trop d'entretiens ont commencé en peu de temps. Réessayez dans une minute.",
			"store_failed": "[[Ta|Votre]] réponse n'a pas pu être enregistrée. Elle est toujours là : [[renvoie-la|renvoyez-la]] dans un " +
				"instant.",
			"unknown_session": "Il n'y a pas d'entretien à cette adresse.",
			"unknown_job":     "Il n'y a pas de poste à cette adresse.",
			"not_found":       "Il n'y a pas de page à cette adresse.",
			"invalid": "L'identifiant peut contenir des lettres, des chiffres, des points, des tirets et des tirets bas. Il commence par " +
				"une lettre ou un chiffre et compte 64 caractères au plus.",
			"cross_origin": "Cette demande venait d'un autre site ; je ne l'ai donc pas suivie.",
			"deleted_session": "Cet entretien a été supprimé avec toutes ses réponses : depuis sa page, par la personne qui l'a proposé, ou " +
				"parce qu'il n'avait pas servi depuis longtemps.",
			"bad_link": "Ce lien n'ouvre pas d'entretien ici. Il en manque peut-être un morceau : copiez-le en entier. Un code fonctionne " +
				"aussi.",
			"bad_share":   "Ce lien n'ouvre pas de rapport. Il en manque peut-être un morceau, ou l'entretien a été supprimé.",
			"ended_share": "Ce lien vers un rapport a expiré ou a été retiré. La personne qui l'a envoyé peut en créer un autre.",
			"expired_address": "L'entretien est terminé, et cette adresse ne l'ouvre plus, pour protéger ce qui s'y est dit. Le " +
				"navigateur dans lequel il s'est terminé l'ouvre encore, tout comme le lien personnel et un code.",
			"expired_link": "Ce lien personnel a expiré. L'entretien est toujours là : un code l'ouvre, et la personne qui l'a proposé " +
				"peut vous aider.",
			"bad_code":       "Cet identifiant et ce code ne vont pas ensemble. Une lettre est peut-être différente ?",
			"too_many_tries": "Cela fait beaucoup d'essais en peu de temps. Réessayez dans une minute.",
			"locked_code": "Trop de codes erronés ont été essayés aujourd'hui : le code est bloqué jusqu'à demain. Le lien personnel " +
				"fonctionne toujours.",
			"not_confirmed": "Rien n'a été supprimé. [[Coche|Cochez]] la case pour confirmer.",
		},
	},
}

// either matches a text for each form of address.
var either = lazyregexp.New(`\[\[([^|\]]*)\|([^|\]]*)\]\]`)

// forms are texts of type T in each language and form of address.
type forms[T any] map[session.Language]map[session.Register]T

// formsOf returns the texts of a catalog in each form of address.
func formsOf[T any](catalog map[session.Language]T) forms[T] {
	all := forms[T]{}
	for l, texts := range catalog {
		data, err := json.Marshal(texts)
		if err != nil {
			panic(err) // not possible: it consists of texts
		}
		if l == session.French {
			data = []byte(frenchSpaces.Replace(string(data)))
		}
		all[l] = map[session.Register]T{}
		for r, part := range map[session.Register]string{session.Informal: "$1", session.Formal: "$2"} {
			var spoken T
			if err := json.Unmarshal(either().ReplaceAll(data, []byte(part)), &spoken); err != nil {
				panic(err)
			}
			all[l][r] = spoken
		}
	}
	return all
}

// in returns the texts of a language in a form of address: the French ones for an unknown language, and
// the formal ones for an unknown form.
func (f forms[T]) in(l session.Language, r session.Register) T {
	if _, ok := f[l]; !ok {
		l = session.French
	}
	if r != session.Informal {
		r = session.Formal
	}
	return f[l][r]
}

var spokenTexts = sync.OnceValue(func() forms[pageTexts] { return formsOf(catalog) })

// textsIn returns the texts of a language in a form of address, as forms.in does.
func textsIn(l session.Language, r session.Register) pageTexts { return spokenTexts().in(l, r) }

func (w pageTexts) problem(code string) string {
	if text, ok := w.Problems[code]; ok {
		return text
	}
	return w.Problems[""]
}
