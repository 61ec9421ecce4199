package action

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// maxObservation is the approximate limit of an observation in bytes; maxLine is that of a
// line in characters.
const (
	maxObservation = 8 << 10
	maxLine        = 240
)

// failure is the reason why an action failed.
type failure struct{ rule, text string }

func (f *failure) Error() string { return f.text }

func fail(rule, format string, args ...any) error {
	return &failure{rule, fmt.Sprintf(format, args...)}
}

// Failure returns the reason why an action failed, for Outcome.
func Failure(rule, format string, args ...any) error { return fail(rule, format, args...) }

// Outcome returns the result of an action that is done elsewhere: its text, or the reason of Failure.
func Outcome(text string, err error) Result { return result(nil, text, err) }

func result(w *work, text string, err error) Result {
	var r Result
	if w != nil {
		r.Read, r.Written = paths(w.read), paths(w.written)
	}
	if err == nil {
		r.Observation = bound(text)
		return r
	}
	r.Failed, r.Rule = true, ruleFileSystem
	if f, ok := errors.AsType[*failure](err); ok {
		r.Rule = f.rule
	}
	r.Observation = bound(r.Rule + ": " + err.Error())
	return r
}

// paths sorts paths and removes duplicates.
func paths(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

// bound makes text safe to print and cuts it at the end of a line.
func bound(text string) string {
	text = strings.TrimRight(sanitize.Text(text, 0), "\n")
	if len(text) <= maxObservation {
		return text
	}
	end := strings.LastIndexByte(text[:maxObservation], '\n')
	if end <= 0 {
		return sanitize.Text(text[:maxObservation], 0) + "\n… the rest of this line is left out"
	}
	return fmt.Sprintf("%s\n… %d more lines", text[:end], strings.Count(text[end+1:], "\n")+1)
}

// clip shortens a text of unknown origin for a message.
func clip(s string) string { return sanitize.Line(s, 80) }
