package loop

import (
	"cmp"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/llm"
)

// dialogue is what the next call sends.
type dialogue struct {
	fresh bool
	task  string
	goOn  string
	// sent only ever grows, or is built anew, so that a backend may keep it.
	sent []llm.Message
}

func newDialogue(s Settings, conversational bool) dialogue {
	history := cmp.Or(s.History, Fresh)
	if s.History == "" && conversational {
		history = Conversation
	}
	d := dialogue{fresh: history == Fresh, task: s.Prompt, goOn: s.ContinuePrompt}
	if s.System != "" {
		d.sent = append(d.sent, llm.Message{Role: llm.System, Content: s.System})
	}
	d.sent = append(d.sent, llm.Message{Role: llm.User, Content: s.Prompt})
	return d
}

func (d *dialogue) messages() []llm.Message { return slices.Clip(d.sent) }

func (d *dialogue) last() string { return d.sent[len(d.sent)-1].Content }

// proceed follows an unfinished answer. A fresh call sends the same again.
func (d *dialogue) proceed(answer string) {
	if !d.fresh {
		d.reply(answer, d.goOn)
	}
}

// insist follows a refused completion with what is left to do. A fresh call
// knows nothing of the task, so it is sent again before the steps, and so is
// every call after it until the next refusal.
func (d *dialogue) insist(answer string, ruling Ruling) {
	prompt := todo(ruling)
	if !d.fresh {
		d.reply(answer, prompt)
		return
	}
	sent := slices.Clone(d.sent)
	sent[len(sent)-1].Content = d.task + "\n\n" + prompt
	d.sent = sent
}

// reply adds a turn. An empty answer said nothing, and some providers refuse an
// empty message, so the same is sent again then.
func (d *dialogue) reply(answer, prompt string) {
	if answer == "" {
		return
	}
	d.sent = append(d.sent, llm.Message{Role: llm.Assistant, Content: answer}, llm.Message{Role: llm.User, Content: prompt})
}

// todo is a prompt that says why the work is not done and quotes what is left, in the
// language of the answer.
func todo(ruling Ruling) string {
	why, end := "The work is not finished yet", "\nThen say again that it is done."
	if ruling.Language == "fr" {
		why, end = "Le travail n'est pas encore terminé", "\nDis ensuite à nouveau que c'est terminé."
	}
	if ruling.Reason != "" {
		why += " (" + ruling.Reason + ")"
	}
	order := stop.Order{
		Language: ruling.Language, Steps: ruling.Steps, NeedsUser: ruling.NeedsUser, NeedsApproval: ruling.NeedsApproval,
	}
	return why + ".\n" + order.Text(maxOrdered) + end
}

// maxOrdered is how many steps of each kind a prompt quotes.
const maxOrdered = 50
