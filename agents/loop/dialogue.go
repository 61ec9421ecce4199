package loop

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/llm"
)

// dialogue builds the messages of the next call.
type dialogue struct {
	fresh    bool
	task     string
	contract string // repeated in each prompt; may be empty
	goOn     string
	demanded string // the steps of the last refusal, or the output of the last check
	language Language
	// report: ask for the result of each step; again: ask to repeat the claim of completion.
	report, again bool
	// turn is the next prompt in a continued session, which replaces the last message of sent; empty if
	// there is no other prompt yet.
	turn string
	// sent is appended to or replaced, never changed, because a backend may keep it.
	sent []llm.Message
}

func newDialogue(s Settings, conversational bool) dialogue {
	d := dialogue{
		fresh: s.history(conversational) != Conversation, task: s.Prompt, contract: s.Contract, goOn: s.ContinuePrompt, language: s.Language,
		report: s.Todos != "" || s.Mode == Answer, again: s.Mode != Answer && s.Contract == "",
	}
	if s.System != "" {
		d.sent = append(d.sent, llm.Message{Role: llm.System, Content: s.System})
	}
	d.sent = append(d.sent, llm.Message{Role: llm.User, Content: d.agreed(s.Prompt)})
	return d
}

// messages returns the messages of the next call. In a continued session the agent knows the earlier ones.
func (d *dialogue) messages(continued bool) []llm.Message {
	if !continued || d.turn == "" {
		return slices.Clip(d.sent)
	}
	sent := slices.Clone(d.sent)
	sent[len(sent)-1].Content = d.turn
	return sent
}

// agreed returns a prompt that contains the contract.
func (d *dialogue) agreed(prompt string) string {
	if d.contract == "" || strings.Contains(prompt, d.contract) {
		return prompt
	}
	return paragraphs(prompt, d.contract)
}

// proceed continues after an unfinished answer, with a note on it if there is one.
func (d *dialogue) proceed(answer, note string) {
	d.next(answer, paragraphs(note, d.goOn), note)
}

// insist continues after a refused completion with the remaining steps.
func (d *dialogue) insist(answer string, v stop.Verdict, order stop.Order) {
	d.demanded = d.demand(v, order)
	d.next(answer, d.demanded, "")
}

// next continues with a prompt. Without history, the task is sent again in place of it, with the steps of
// the last refusal and the note.
func (d *dialogue) next(answer, prompt, note string) {
	d.turn = d.agreed(prompt)
	if !d.fresh {
		d.reply(answer, d.turn)
		return
	}
	d.replaceLast(d.whole(note))
}

// whole returns the task with the steps of the last refusal and a note.
func (d *dialogue) whole(note string) string {
	whole := d.task
	for _, more := range []string{d.demanded, note} {
		if more != "" {
			whole += "\n\n" + more
		}
	}
	return d.agreed(whole)
}

// replaceLast replaces the last message.
func (d *dialogue) replaceLast(content string) {
	d.sent = slices.Clone(d.sent)
	d.sent[len(d.sent)-1].Content = content
}

// repeat sends the prompt of a failed call again, if its session is continued.
func (d *dialogue) repeat(prompt string) {
	note := noteCutOff.in(d.language)
	d.turn = note + strings.TrimPrefix(prompt, note)
}

// tell continues with the message of a person after an answer. Without history, it follows the task.
func (d *dialogue) tell(answer, message string) { d.next(answer, message, message) }

// reply adds a turn. After an empty answer the same messages are sent again, because some providers
// reject an empty message.
func (d *dialogue) reply(answer, prompt string) {
	if strings.TrimSpace(answer) == "" {
		return
	}
	d.sent = append(d.sent, llm.Message{Role: llm.Assistant, Content: answer}, llm.Message{Role: llm.User, Content: prompt})
}

// demand returns a prompt with the reason why the work is not done and the remaining steps, in
// the language of the answer.
func (d *dialogue) demand(v stop.Verdict, order stop.Order) string {
	why, report, again := "The work is not finished yet",
		"\nDo the work before you answer, and do not announce it. "+
			"Then say for each of them what was done; if one cannot be done or needs the user, say so and why.",
		"\nThen say again that it is done."
	if v.Language == "fr" {
		why, report, again = "Le travail n'est pas encore terminé",
			"\nFais le travail avant de répondre, sans l'annoncer. Dis ensuite pour chaque point ce qui a été fait ; "+
				"si l'un est impossible ou dépend de l'utilisateur, dis-le et pourquoi.",
			"\nDis ensuite à nouveau que c'est terminé."
	}
	if reason := explain(v); reason != "" {
		why += " (" + reason + ")"
	}
	prompt := why + ".\n" + order.Text(maxOrdered)
	if d.report {
		prompt += report
	}
	if d.again {
		prompt += again
	}
	return prompt
}

// explain returns the reason of a refusal. The reason of a verdict is English, so for a French answer
// explain quotes the announcement instead; it is empty without one.
func explain(v stop.Verdict) string {
	if v.MayStop {
		return ""
	}
	if v.Language != "fr" {
		return v.Reason
	}
	for _, d := range v.Detections {
		if d.Real {
			return "tu as écrit « " + stop.Clip(d.Text, maxQuoted) + " »"
		}
	}
	return ""
}

// maxQuoted is the length in bytes of the longest quoted announcement.
const maxQuoted = 160

// maxOrdered is the largest number of steps of each kind in a prompt.
const maxOrdered = 50
