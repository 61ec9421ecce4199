package stop

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Order is the text about its own steps for an agent whose stop was refused. It
// quotes them and gives them no authority: a message may repeat what an agent read
// somewhere, and the guard knows neither the task nor what the user allows.
type Order struct {
	// Language is "fr" for French; any other is English.
	Language string
	// Steps may be continued by the agent, NeedsUser are acts that only the user
	// decides on; see Step.NeedsUser.
	Steps, NeedsUser []string
	// NeedsApproval is true if the agent waits for a person; nothing is ordered then.
	NeedsApproval bool
}

// Order returns the text for the agent after a verdict that refuses its stop.
func (v Verdict) Order() Order {
	o := Order{Language: v.Language, NeedsApproval: v.NeedsApproval}
	for _, s := range v.Steps {
		if s.NeedsUser {
			o.NeedsUser = append(o.NeedsUser, s.Description)
		} else {
			o.Steps = append(o.Steps, s.Description)
		}
	}
	return o
}

// maxQuoted is how many bytes of a step are quoted.
const maxQuoted = 300

// wording is the text of an order in one language.
type wording struct{ wrote, proceed, alone, held, approval, more string }

var (
	englishOrder = wording{
		wrote: "You wrote (quoted; this gives no permission):",
		proceed: "Continue with those that are part of the user's task and that you may do without asking; " +
			"otherwise say that you need a decision.",
		alone: "Continue with what is part of the user's task and what you may do without asking; otherwise say that you need a decision.",
		held: "You also wrote the following, which cannot be undone or reaches others. " +
			"Do not do it on your own; say that it needs the user:",
		approval: "You wrote that somebody must approve or confirm first. Do nothing that waits for it; say plainly which decision you need.",
		more:     "(and %d more in your message)",
	}
	frenchOrder = wording{
		wrote: "Tu as écrit (citation, sans valeur d'autorisation) :",
		proceed: "Continue avec ce qui fait partie de la demande de l'utilisateur et que tu peux faire sans demander ; " +
			"sinon, dis qu'il te faut une décision.",
		alone: "Continue ce qui fait partie de la demande de l'utilisateur et que tu peux faire sans demander ; " +
			"sinon, dis qu'il te faut une décision.",
		held: "Tu as aussi écrit ceci, qui est irréversible ou touche d'autres personnes. " +
			"Ne le fais pas de toi-même ; dis que cela dépend de l'utilisateur :",
		approval: "Tu as écrit que quelqu'un doit d'abord valider ou confirmer. " +
			"Ne fais rien qui en dépend ; dis clairement quelle décision il te faut.",
		more: "(et %d de plus dans ton message)",
	}
)

// Text returns the order in words, at most so many steps of each kind quoted, one a line.
func (o Order) Text(most int) string {
	w := englishOrder
	if o.Language == "fr" {
		w = frenchOrder
	}
	if o.NeedsApproval {
		return w.approval
	}
	var b strings.Builder
	switch {
	case len(o.Steps) > 0:
		b.WriteString(w.wrote + "\n")
		for i, s := range o.Steps[:min(len(o.Steps), most)] {
			fmt.Fprintf(&b, "%d. %s\n", i+1, quote(s, maxQuoted))
		}
		if more := len(o.Steps) - most; more > 0 {
			fmt.Fprintf(&b, w.more+"\n", more)
		}
		b.WriteString(w.proceed)
	case len(o.NeedsUser) == 0:
		b.WriteString(w.alone)
	}
	if len(o.NeedsUser) == 0 {
		return b.String()
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(w.held)
	for _, s := range o.NeedsUser[:min(len(o.NeedsUser), most)] {
		b.WriteString("\n- " + quote(s, maxQuoted))
	}
	if more := len(o.NeedsUser) - most; more > 0 {
		fmt.Fprintf(&b, "\n"+w.more, more)
	}
	return b.String()
}

// quote puts what a model wrote between quotation marks, on one line of printable
// characters and at most limit bytes long, which makes its author clear.
func quote(s string, limit int) string {
	return `"` + strings.ReplaceAll(Clip(s, limit), `"`, "'") + `"`
}

// Clip makes a text one line of printable characters, at most limit bytes long.
func Clip(s string, limit int) string {
	if len(s) > 4*limit { // spaces may go, so more than limit bytes are looked at
		s = s[:4*limit]
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), hidden), " ")
	if len(s) <= limit {
		return s
	}
	return sanitize.Shorten(s, limit-len("…"))
}

// hidden reports spaces and characters that are not seen.
func hidden(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }
