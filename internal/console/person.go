package console

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// MaxQuestion limits a question, in characters.
const MaxQuestion = 4000

// Person asks questions at the terminal.
type Person struct {
	view  *View
	stdin io.Reader
	lines <-chan string // nil before the first question
}

// NewPerson returns a person who answers on stdin. Nothing is read from it before the first question.
func NewPerson(view *View, stdin io.Reader) *Person { return &Person{view: view, stdin: stdin} }

// Ask asks a question. After an empty line ok is false.
func (p *Person) Ask(ctx context.Context, question, about string) (answer string, ok bool) {
	p.view.Pause(true)
	defer p.view.Pause(false)
	if p.lines == nil {
		p.lines = input.Lines(p.stdin)
	}
	out := p.view.Out
	clean := func(text string) string { return sanitize.Text(p.view.redact.Text(text), MaxQuestion) }
	fmt.Fprintf(out, "\n%s %s\n", p.view.Term.Paint(Bold, "question:"), clean(question))
	if about != "" {
		fmt.Fprintln(out, clean(about))
	}
	fmt.Fprint(out, "(an empty line leaves it open)\n> ")
	answer, err := input.ReadAnswer(ctx, p.lines)
	fmt.Fprintln(out)
	if err != nil || strings.TrimSpace(answer) == "" {
		return "", false
	}
	return answer, true
}
