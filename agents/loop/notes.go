package loop

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/llm"
)

// note is a text about an answer: in English for the events of a run, and for the agent in the language of its
// task.
type note struct{ english, french string }

// notef formats both texts with the same arguments.
func notef(english, french string, args ...any) note {
	return note{fmt.Sprintf(english, args...), fmt.Sprintf(french, args...)}
}

func (n note) in(l Language) string {
	if l == French {
		return n.french
	}
	return n.english
}

var (
	noteCutOff = note{
		"Your last turn was cut off. Some of its work may be done already: check before you repeat it.\n\n",
		"Ton dernier tour a été interrompu. Une partie du travail est peut-être déjà faite : vérifie avant de la refaire.\n\n",
	}
	noteRetask   = note{"The task has changed. It is now:\n\n", "La tâche a changé. La voici :\n\n"}
	noteAnswered = note{
		"You handed over to a person: %s\nThe answer: %s",
		"Tu as passé la main à une personne : %s\nSa réponse : %s",
	}
	noteUnfinished = note{
		"Your last answer does not count as finished: %s.",
		"Ta dernière réponse ne compte pas comme terminée : %s.",
	}
	noteDenied = note{
		"The permissions of this run refused %s. Do not repeat such calls: do the work in another way, " +
			"or say that you need a person to permit them.",
		"Les permissions de cette exécution ont refusé %s. Ne répète pas ces appels : fais le travail autrement, " +
			"ou dis que tu as besoin qu'une personne les autorise.",
	}
	noteFailing = note{
		"Your last turn was ended because %d tool calls in a row failed. Find out why before you call more tools, and take another way.",
		"Ton dernier tour a été arrêté, car %d appels d'outils de suite ont échoué. " +
			"Cherches-en la cause avant d'en faire d'autres, et procède autrement.",
	}
)

// remark returns the notes on an answer for the next prompt: why it does not count as finished, and which
// tool calls were denied or failed. It returns none without a contract, which explains how to react.
func (r *runner) remark(reply llm.Reply, c claim) string {
	if r.set.Contract == "" {
		return ""
	}
	in := r.set.Language
	var notes []string
	if why := c.note.in(in); why != "" {
		notes = append(notes, fmt.Sprintf(noteUnfinished.in(in), why))
	}
	if len(reply.Denials) > 0 {
		const maxDenied = 600 // bytes
		notes = append(notes, fmt.Sprintf(noteDenied.in(in), stop.Clip(describeDenials(reply.Denials, in), maxDenied)))
	}
	if reply.Finish == llm.FinishFailures {
		notes = append(notes, fmt.Sprintf(noteFailing.in(in), r.set.FailureLimit))
	}
	return strings.Join(notes, "\n")
}

// describeDenials names the denied tool calls in the language of the task.
func describeDenials(denials []llm.Denial, in Language) string {
	if in != French {
		return llm.DescribeDenials(denials)
	}
	const most = 3
	names := make([]string, 0, most)
	for _, d := range denials[:min(len(denials), most)] {
		names = append(names, d.String())
	}
	text := "1 appel d'outil : "
	if len(denials) > 1 {
		text = fmt.Sprintf("%d appels d'outils : ", len(denials))
	}
	text += strings.Join(names, ", ")
	switch n := len(denials) - most; {
	case n == 1:
		text += " et 1 autre"
	case n > 1:
		text += fmt.Sprintf(" et %d autres", n)
	}
	return text
}
