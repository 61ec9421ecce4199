package followup

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// Limits of what is sent, in bytes.
const (
	maxStep   = 300     // of a step's description in an event
	maxReason = 300     // of a verdict's reason
	maxAnswer = 1 << 16 // of an answer that is sent back
)

// opening stands for the task where none is given: providers want a
// conversation to begin with the user.
const opening = "Go on with the work of your last answer."

// prompt asks the agent to go on with its own steps, in its language. What a model
// wrote is quoted.
func prompt(steps []stop.Step, v stop.Verdict) string {
	order := v.Order()
	order.Steps = stop.Texts(steps)
	intro, end := "Your last answer leaves work undone (%s).\n",
		"\nDo the work before you answer, and do not announce it. Then say for each of them what was done; if one cannot be done or needs the user, say so and why."
	if v.Language == "fr" {
		intro, end = "Ta dernière réponse laisse du travail en suspens (%s).\n",
			"\nFais le travail avant de répondre, sans l'annoncer. Dis ensuite pour chaque point ce qui a été fait ; si l'un est impossible ou dépend de l'utilisateur, dis-le et pourquoi."
	}
	return fmt.Sprintf(intro, stop.Quote(v.Reason, maxReason)) + order.Text(len(steps)+len(order.NeedsUser)) + end
}

// tail is the end of an answer: what it leaves undone mostly stands there.
func tail(answer string) string {
	if len(answer) > maxAnswer {
		answer = "…" + answer[len(answer)-maxAnswer:]
	}
	return strings.ToValidUTF8(answer, "")
}
