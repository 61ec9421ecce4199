package react

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// maxLine is how long a sentence in details and events may be, in characters.
const maxLine = 300

// line makes any text one sentence that is safe to show.
func line(text string) string { return sanitize.Line(text, maxLine) }

// bounded makes a text safe to show, and cuts it to limit characters, which it says.
func bounded(text string, limit int) string {
	cut := sanitize.Text(text, limit)
	if len(text) > limit { // bytes: fewer of them need no look
		if n := utf8.RuneCountInString(text); n > limit {
			cut += fmt.Sprintf("\n[cut here; %d characters in all]", n)
		}
	}
	return cut
}

func itoa(n int) string { return strconv.Itoa(n) }

// maxLines is how many lines a list in a result may have.
const maxLines = 50

// lines returns the first lines of a text, without their list marks.
func lines(text string) []string {
	var all []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), "-*•")); l != "" {
			all = append(all, line(l))
		}
		if len(all) == maxLines {
			break
		}
	}
	return all
}

// decode reads the input of one of the engine's own actions; what is wrong with it is
// its observation.
func decode(input string, into any) *action.Result {
	if err := action.Decode(input, into); err != nil {
		return &action.Result{Failed: true, Rule: action.RuleBadInput, Observation: err.Error()}
	}
	return nil
}
