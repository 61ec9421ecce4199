package react

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// maxLine is the longest text in details and events, in characters.
const maxLine = 300

// oneLine returns a text on one line that is safe to print.
func oneLine(text string) string { return sanitize.Line(text, maxLine) }

// bounded returns a text that is safe to print, cut to limit characters with a note about it.
func bounded(text string, limit int) string {
	cut := sanitize.Text(text, limit)
	if n := utf8.RuneCountInString(text); n > limit {
		cut += fmt.Sprintf("\n[cut here; %d characters in all]", n)
	}
	return cut
}

// maxLines is the largest number of items in a list of a Result.
const maxLines = 50

// listItems returns the first lines of a text, without list marks.
func listItems(text string) []string {
	var all []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), "-*•")); l != "" {
			all = append(all, oneLine(l))
		}
		if len(all) == maxLines {
			break
		}
	}
	return all
}

// decodeInput decodes the input of an action of the engine. It returns the result of the action if the
// input is invalid.
func decodeInput(input string, into any) *action.Result {
	if err := action.Decode(input, into); err != nil {
		return &action.Result{Failed: true, Rule: action.RuleBadInput, Observation: err.Error()}
	}
	return nil
}
