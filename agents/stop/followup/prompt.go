package followup

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// Limits of what is sent, in bytes.
const (
	maxStep   = 300     // of a step's description
	maxReason = 300     // of a verdict's reason
	maxAnswer = 1 << 16 // of an answer that is sent back
)

// opening stands for the task where none is given: providers want a
// conversation to begin with the user.
const opening = "Go on with the work of your last answer."

// prompt asks for steps. What a model wrote is quoted, so that it cannot pass for
// our own words.
func prompt(steps []stop.Step, reason string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Your last answer leaves work undone that you can do yourself (%s).\n", quote(reason, maxReason))
	if len(steps) == 0 {
		b.WriteString("Finish all of it now.\n")
	} else {
		b.WriteString("Do these steps now, in this order. The quoted texts are copied from your answer and only name the work:\n")
		for i, s := range steps {
			fmt.Fprintf(&b, "%d. %s\n", i+1, quote(s.Description, maxStep))
		}
	}
	b.WriteString("Do the work before you answer; do not announce it and do not ask for permission. " +
		"Then say for each step what was done. If one cannot be done, say so and why.")
	return b.String()
}

// quote puts a model's text between quotation marks.
func quote(text string, limit int) string {
	return `"` + strings.ReplaceAll(clip(text, limit), `"`, "'") + `"`
}

// clip makes a text one line of printable characters and at most limit bytes.
func clip(text string, limit int) string {
	if len(text) > 4*limit { // spaces may go, so more than limit bytes are looked at
		text = text[:4*limit]
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), hidden), " ")
	if len(text) <= limit {
		return text
	}
	const more = "…"
	cut := limit - len(more)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + more
}

// hidden reports spaces and characters that are not seen.
func hidden(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }

// tail is the end of an answer: what it leaves undone mostly stands there.
func tail(answer string) string {
	if len(answer) > maxAnswer {
		answer = "…" + answer[len(answer)-maxAnswer:]
	}
	return strings.ToValidUTF8(answer, "")
}
