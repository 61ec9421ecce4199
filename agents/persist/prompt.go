package persist

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// prompt returns the complete request for a worker. Notes of earlier attempts come from a model or a
// program, so they are quoted line by line and introduced as notes.
func (r *supervisor) prompt(t state.Task, read fileReader) string {
	var b strings.Builder
	if r.plan.Goal != "" {
		fmt.Fprintf(&b, r.words.goal, r.plan.Goal)
	}
	fmt.Fprintf(&b, r.words.task, t.ID, t.Do)
	r.reason(&b, t)
	r.words.accepted(&b, t)
	if all, each := r.limits.FileBytes(); read == nil || all == 0 {
		r.nameFiles(&b, t)
	} else {
		x := excerpts{words: r.words, read: read, each: each, left: all}
		x.add(relevant(t, r.state.Window.Files()))
		b.WriteString(x.text())
	}
	r.words.earlier(&b, t)
	r.words.answers(&b, t)
	r.words.left(&b, t)
	b.WriteString(r.words.conclusion)
	return b.String()
}

// accepted lists the acceptance commands.
func (p *phrases) accepted(b *strings.Builder, t state.Task) {
	if len(t.Accept) == 0 {
		return
	}
	b.WriteString(p.acceptance)
	for _, a := range t.Accept {
		fmt.Fprintf(b, "- %s\n", oneLine(strings.Join(a.Command, " ")))
	}
}

// earlier writes how the attempt before ended.
func (p *phrases) earlier(b *strings.Builder, t state.Task) {
	if t.Attempts < 2 {
		return
	}
	fmt.Fprintf(b, p.attempt, t.Attempts)
	if t.Details == "" {
		b.WriteString("\n")
		return
	}
	b.WriteString(p.ended)
	quote(b, t.Details)
}

// answers writes the answers of persons.
func (p *phrases) answers(b *strings.Builder, t state.Task) {
	for _, a := range t.Answers {
		b.WriteString(p.answered)
		if a.Question != "" {
			b.WriteString(p.question)
			quote(b, a.Question)
		}
		b.WriteString(p.answer)
		quote(b, a.Text)
	}
}

// left writes the note of the attempt before.
func (p *phrases) left(b *strings.Builder, t state.Task) {
	if t.Carry != "" {
		b.WriteString(p.notes)
		quote(b, t.Carry)
	}
}

// nameFiles names the files in context, and those of the task that do not fit.
func (r *supervisor) nameFiles(b *strings.Builder, t state.Task) {
	in := r.state.Window.Files()
	if len(in) > 0 {
		b.WriteString(r.words.inContext)
	}
	for _, file := range in {
		fmt.Fprintf(b, "- %s\n", oneLine(file))
	}
	out := slices.DeleteFunc(slices.Clone(t.Files), func(file string) bool { return slices.Contains(in, file) })
	if len(out) > 0 {
		b.WriteString(r.words.beyondContext + r.words.lines(out))
	}
}

// reason writes the reason for a task of a round.
func (r *supervisor) reason(b *strings.Builder, t state.Task) {
	by, refused, announced := r.state.Announced(t)
	switch {
	case announced:
		fmt.Fprintf(b, r.words.announced, oneLine(by))
		quote(b, refused)
		b.WriteString(r.words.orUnwanted)
	case t.From != "":
		fmt.Fprintf(b, r.words.failedCheck, t.From)
	}
}

func quote(b *strings.Builder, text string) {
	for line := range strings.Lines(text) {
		b.WriteString("> " + oneLine(line) + "\n")
	}
}

// oneLine removes control characters from a text.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' || c == 0x7f {
			return -1
		}
		return c
	}, text)
}
