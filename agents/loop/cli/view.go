package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// view prints a line for each iteration, and on a terminal a status line for the current call.
type view struct {
	*console.View
	limit int
	n     int
	seen  int // characters of the current answer
	tools int // tool calls of the current iteration
}

func newView(on *console.View, s loop.Settings) *view {
	v := &view{View: on, limit: s.MaxIterations}
	fmt.Fprintf(v.Out, "backend %s, at most %s, timeout %s\n", s.Backend, format.Plural(s.MaxIterations, "iteration"), s.Timeout)
	v.underWay("waiting")
	return v
}

// text receives each piece of an answer.
func (v *view) text(delta string) {
	v.seen += utf8.RuneCountInString(delta)
	last := delta[strings.LastIndexByte(delta, '\n')+1:]
	v.underWay(fmt.Sprintf("%d characters: %s", v.seen, last))
}

// activity receives the tool calls that an agent makes by itself.
func (v *view) activity(tool string) {
	if tool != "" {
		v.tools++
		v.underWay(fmt.Sprintf("%s, the last one %s", format.Plural(v.tools, "tool call"), tool))
	}
}

// iteration writes the line of an iteration.
func (v *view) iteration(e loop.Entry) {
	v.n, v.seen, v.tools = e.N, 0, 0
	text := e.Answer
	if e.Error != "" {
		text = "failed: " + e.Error
	}
	v.Print(fmt.Sprintf("%3d/%d  %8s  %s", e.N, v.limit, e.Duration.Round(time.Millisecond), v.Clean(text)))
	v.underWay("waiting")
}

// check writes the line of a check.
func (v *view) check(c loop.Check) {
	v.Print(v.Clean(fmt.Sprintf("        check %s: %s in %s", c.Command,
		strings.TrimSuffix(string(c.Verdict)+", "+c.Details, ", "), c.Duration.Round(time.Millisecond))))
	v.underWay("waiting")
}

// Emit implements event.Sink. It prints changes of state, hand-overs and refusals.
func (v *view) Emit(e event.Event) {
	j, judged := event.Read[stop.Judgement](&e)
	if e.Kind != event.State && e.Kind != event.HandOver && (!judged || j.Allow) {
		return
	}
	v.Print(fmt.Sprintf("        %s: %s", e.Name, v.Clean(e.Detail)))
}

// underWay updates the status line.
func (v *view) underWay(what string) {
	if !v.Term.Live {
		return
	}
	v.Update(fmt.Sprintf("%3d/%d  %s", v.n+1, v.limit, v.Clean(what)))
}
