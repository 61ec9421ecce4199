package step

import (
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// maxHints is the largest number of words that are compared with the keys.
const maxHints = 100

// hintPattern matches the first word of a line, which may have marks around it, before a colon.
var hintPattern = lazyregexp.New(`(?m)^[ \t*_>#"'{-]*([^\s:"'*{>#-][^\s:"'*]{0,63})[ *_"']*:`)

// noStep returns the error for an answer without a document, at the line that was probably meant to
// begin one.
func noStep(answer string) *Error {
	var begins []string
	for _, k := range keys {
		if k.begins {
			begins = append(begins, k.name)
		}
	}
	for _, m := range hintPattern().FindAllStringSubmatchIndex(answer, maxHints) {
		name := strings.TrimRight(answer[m[2]:m[3]], "_")
		near := suggest.Nearest(name, begins)
		if near == "" {
			continue
		}
		n := strings.Count(answer[:m[2]], "\n") + 1
		at := Pos{Line: n, Column: utf8.RuneCountInString(answer[strings.LastIndexByte(answer[:m[2]], '\n')+1:m[2]]) + 1}
		return errorAt(at, "no-step", "the answer has no step; line %d has %s: "+
			"write %s: at the beginning of the line, in lower case, as YAML and without marks around it", n, excerpt(name), near)
	}
	return errorAt(Pos{Line: 1, Column: 1}, "no-step",
		"the answer has no step; write thought: and action:, or reflection: and decision:, at the beginning of a line, as YAML")
}
