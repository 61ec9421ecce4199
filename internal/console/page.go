package console

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Page is text that fits a terminal's width.
type Page struct {
	strings.Builder
	Term Terminal
}

// Line writes one line, truncated to the width.
func (p *Page) Line(format string, args ...any) {
	p.WriteString(strings.TrimRight(Cut(fmt.Sprintf(format, args...), p.Term.Columns()), " ") + "\n")
}

// Block writes text of any length, wrapped and indented, with a mark before its first line.
func (p *Page) Block(indent int, mark, s string) {
	for line := range strings.SplitSeq(text.WrapSoft(s, p.Term.Columns()-indent), "\n") {
		p.Line("%-*s%s", indent, mark, strings.TrimSpace(line))
		mark = ""
	}
}

// Joined joins a word and its explanation. Either may be empty.
func Joined(word, about string) string {
	if word == "" || about == "" {
		return word + about
	}
	return word + ": " + about
}

// HandedTo returns the name of an event and its attribute "to", if it is a string.
func HandedTo(name string, to any) string {
	if to, ok := to.(string); ok && to != "" {
		return name + " " + to
	}
	return name
}
