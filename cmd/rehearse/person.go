package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// person is who sits at the terminal.
type person struct {
	view  *liveView
	lines <-chan string
	read  func() <-chan string // starts reading; not before the first question
}

// person is asked the agents' questions, if standard input is a terminal and not
// the input itself.
func (a *app) person(view *liveView, inputFile string) react.Person {
	if inputFile == "-" || !a.atTerminal() {
		return nil
	}
	return &person{view: view, read: func() <-chan string { return input.Lines(a.stdin) }}
}

// Ask implements react.Person. An empty line leaves the question open.
func (p *person) Ask(ctx context.Context, question, about string) (string, bool) {
	p.view.status.Pause(true)
	defer p.view.status.Pause(false)
	if p.lines == nil {
		p.lines = p.read()
	}
	out := p.view.out
	asked := func(text string) string { return sanitize.Text(p.view.redact.Text(text), maxQuestion) }
	fmt.Fprintf(out, "\n%s %s\n", p.view.term.Paint(tty.Bold, "question:"), asked(question))
	if about != "" {
		fmt.Fprintln(out, asked(about))
	}
	fmt.Fprint(out, "(an empty line leaves it open)\n> ")
	answer, err := readAnswer(ctx, p.lines)
	fmt.Fprintln(out)
	if err != nil || strings.TrimSpace(answer) == "" {
		return "", false
	}
	return answer, true
}

// maxQuestion is how much of a question is shown, in characters.
const maxQuestion = 4000
