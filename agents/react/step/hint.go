package step

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// The numbers of lines that are searched for a hint, and that are compared with the keys.
const (
	maxLines = 1000
	maxHints = 100
)

// noStep returns the error for an answer without a document. It points to the line that
// was probably meant to begin one.
func noStep(answer string) *Error {
	err := &Error{Pos: Pos{Line: 1, Column: 1}, Rule: "no-step", Message: "the answer has no step; write thought: and action:, or reflection: and decision:, at the beginning of a line, as YAML"}
	begins := make([]string, 0, len(keys))
	for _, k := range keys {
		if k.begins {
			begins = append(begins, k.name)
		}
	}
	n, tried := 0, 0
	for l := range strings.Lines(answer) {
		if n++; n > maxLines {
			break
		}
		text := strings.TrimLeft(l, " \t*_>#-\"'{")
		name, _, ok := strings.Cut(text[:min(len(text), 64)], ":")
		name = strings.TrimRight(name, " *_\"'")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			continue
		}
		if tried++; tried > maxHints {
			break
		}
		if near := suggest.Nearest(name, begins); near != "" {
			err.Pos = Pos{Line: n, Column: len(l) - len(text) + 1}
			err.Message = fmt.Sprintf("the answer has no step; line %d has %s: write %s: at the beginning of the line, in lower case, as YAML and without marks around it", n, excerpt(name), near)
			break
		}
	}
	return err
}
