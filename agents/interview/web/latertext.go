package web

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// laterTexts are the texts about continuing an interview later, and about the data of a candidate, written
// as pageTexts are.
type laterTexts struct {
	OngoingTitle, CompleteTitle, LastUsed, ContinueMine, ReadAgain, NotMine, BeginAnother string

	HaveCode, ResumeTitle, ResumeLead, Code, CodeHint, ResumeSend, Identifier, IdentifierHint string

	Mine, MineLead, Elsewhere, LinkLead, LinkText, Copy, Copied, Mail, Subject string
	CodeLead, NoIdentifier, Page, TwoDevices, Back                             string

	Data, DataLead, AsText, AsJSON, DeleteLead, DeleteConfirm, Delete string
	Shared, SharedLead, Forget, Privacy, GoneTitle                    string

	// KeepDays and KeepAll are for {keep} in the privacy text, and Operator is for {contact}. Days and
	// Hours are numbers of these.
	KeepDays, KeepAll, Days, Hours, Operator string

	// Date is the layout of a date.
	Date string
}

//nolint:misspell // one half is French
var laterCatalog = map[session.Language]laterTexts{
	session.English: {
		OngoingTitle: "Welcome back", CompleteTitle: "The interview is complete",
		LastUsed: "Last used on", ContinueMine: "Continue my interview", ReadAgain: "Read it again",
		NotMine: "Not mine: forget it in this browser", BeginAnother: "Begin another interview",

		HaveCode: "Continue with a code", ResumeTitle: "Continue with a code",
		ResumeLead: "You will find the code on the page “Later, and my data” of your interview.",
		Code:       "Code", CodeHint: "12 letters and digits, such as K7QM-9TXR-4BWD.", ResumeSend: "Continue my interview",
		Identifier: "Identifier", IdentifierHint: "Leave it empty if you were not given one.",

		Mine: "Later, and my data", MineLead: "Take a break, or move to another device: the interview waits for you.",
		Elsewhere: "Continue later or elsewhere",
		LinkLead: "This personal link opens the interview until %s. Keep it to yourself: anybody who has it can read your " +
			"answers and give new ones.",
		LinkText: "Hello,\n\nhere is the personal link to continue the interview:\n%s\n\nIt works until %s.\n",
		Copy:     "Copy the text", Copied: "Copied.", Mail: "Send it by e-mail", Subject: "My link to continue the interview",
		CodeLead: "Without the link, a code helps. On the other device, open this page and type:", NoIdentifier: "(leave empty)", Page: "Page",
		TwoDevices: "The interview continues on any device, always at the same question. An answer to a question that was answered " +
			"elsewhere in the meantime is not saved, and the page says so.",
		Back: "Back to the interview",

		Data: "My data", DataLead: "Everything that was said in this interview, as a file you can keep:",
		AsText: "Save as text", AsJSON: "Save as JSON",
		DeleteLead: "All messages and all your answers are deleted at once, for good, also for whoever invited you. " +
			"You cannot continue the interview afterwards.",
		DeleteConfirm: "Yes, delete everything", Delete: "Delete my data",
		Shared: "On a shared computer", SharedLead: "The start page offers to continue this interview in this browser. " +
			"This removes the offer; the link and the code still work.",
		Forget: "Forget in this browser", Privacy: "Privacy", GoneTitle: "This interview was deleted",
		KeepDays: "An interview that was not used for %s is deleted.", KeepAll: "Until it is deleted. This server does not set an end by itself.",
		Days: "%d days", Hours: "%d hours", Operator: "Whoever proposed the interview.",
		Date: "2 January 2006",
	},
	session.French: {
		OngoingTitle: "Bienvenue à nouveau", CompleteTitle: "L'entretien est terminé",
		LastUsed: "Dernier passage le", ContinueMine: "Reprendre mon entretien", ReadAgain: "Le relire",
		NotMine: "Ce n'est pas le mien : l'oublier dans ce navigateur", BeginAnother: "Commencer un autre entretien",

		HaveCode: "Reprendre avec un code", ResumeTitle: "Reprendre avec un code",
		ResumeLead: "Vous trouverez le code sur la page « Plus tard, et mes données » de votre entretien.",
		Code:       "Code", CodeHint: "12 lettres et chiffres, comme K7QM-9TXR-4BWD.", ResumeSend: "Reprendre mon entretien",
		Identifier: "Identifiant", IdentifierHint: "Laissez ce champ vide si vous n'en avez pas reçu.",

		Mine:      "Plus tard, et mes données",
		MineLead:  "[[Fais|Faites]] une pause ou [[change|changez]] d'appareil : l'entretien [[t'attend|vous attend]].",
		Elsewhere: "Reprendre plus tard ou ailleurs",
		LinkLead: "Ce lien personnel ouvre l'entretien jusqu'au %s. [[Garde-le pour toi|Gardez-le pour vous]] : il permet de lire " +
			"[[tes|vos]] réponses et d'en donner de nouvelles.",
		LinkText: "Bonjour,\n\nvoici le lien personnel pour reprendre l'entretien :\n%s\n\nIl fonctionne jusqu'au %s.\n",
		Copy:     "Copier le texte", Copied: "C'est copié.", Mail: "L'envoyer par e-mail", Subject: "Mon lien pour reprendre l'entretien",
		CodeLead:     "Sans le lien, un code suffit. Sur l'autre appareil, [[ouvre|ouvrez]] cette page et [[écris|écrivez]] :",
		NoIdentifier: "(à laisser vide)", Page: "Page",
		TwoDevices: "L'entretien continue sur n'importe quel appareil, toujours à la même question. Une réponse à une question qui " +
			"a déjà sa réponse ailleurs n'est pas enregistrée, et la page [[te|vous]] le dit.",
		Back: "Retour à l'entretien",

		Data: "Mes données", DataLead: "Tout ce qui s'est dit dans cet entretien, dans un fichier que [[tu peux|vous pouvez]] garder :",
		AsText: "Enregistrer en texte", AsJSON: "Enregistrer en JSON",
		DeleteLead: "Tous les messages et toutes [[tes|vos]] réponses sont supprimés aussitôt, pour toujours, y compris pour la personne qui a " +
			"proposé l'entretien. [[Tu ne pourras|Vous ne pourrez]] plus le reprendre.",
		DeleteConfirm: "Oui, tout supprimer", Delete: "Supprimer mes données",
		Shared: "Sur un ordinateur partagé", SharedLead: "La page d'accueil [[te|vous]] propose de reprendre cet entretien dans ce navigateur. " +
			"Ce bouton retire la proposition ; le lien et le code fonctionnent toujours.",
		Forget: "Oublier dans ce navigateur", Privacy: "Vie privée", GoneTitle: "Cet entretien a été supprimé",
		KeepDays: "Un entretien qui n'a pas servi pendant %s est supprimé.",
		KeepAll:  "Jusqu'à sa suppression. Ce serveur ne fixe pas de date de lui-même.",
		Days:     "%d jours", Hours: "%d heures", Operator: "La personne qui a proposé l'entretien.",
		Date: "02/01/2006",
	},
}

var spokenLaterTexts = sync.OnceValue(func() forms[laterTexts] { return formsOf(laterCatalog) })

// laterIn returns the texts of a language in a form of address, as forms.in does.
func laterIn(l session.Language, r session.Register) laterTexts { return spokenLaterTexts().in(l, r) }

// span returns a duration in days, or in hours if it is short.
func (t laterTexts) span(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf(t.Hours, int(d/time.Hour))
	}
	return fmt.Sprintf(t.Days, int(d/(24*time.Hour)))
}

// privacyFiles are the default texts of the privacy page, with the places {keep}, {link} and {contact}.
//
//go:embed privacy/*.txt
var privacyFiles embed.FS

// privacyText completes the default text of the privacy page in a language.
func privacyText(l session.Language, o Options) string {
	t := laterIn(l, session.Formal)
	text, err := privacyFiles.ReadFile("privacy/" + string(l) + ".txt")
	if err != nil {
		panic(err) // the files are part of the program
	}
	keep := t.KeepAll
	if o.Keep > 0 {
		keep = fmt.Sprintf(t.KeepDays, t.span(o.Keep))
	}
	contact := o.Contact
	if contact == "" {
		contact = t.Operator
	}
	return strings.NewReplacer("{keep}", keep, "{link}", t.span(o.LinkTime), "{contact}", contact).Replace(string(text))
}
