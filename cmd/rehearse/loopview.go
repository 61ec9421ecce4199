package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/event"
)

// loopView tells a person how a loop goes on: on a terminal one live line while a
// call is under way, and everywhere one line for each iteration.
type loopView struct {
	*liveView
	limit int
	n     int
	seen  int // characters of the answer under way
	tools int // tool calls of the iteration under way
}

func (a *app) newLoopView(s loop.Settings) *loopView {
	v := &loopView{liveView: a.newLiveView(false), limit: s.MaxIterations}
	fmt.Fprintf(v.out, "backend %s, at most %s, timeout %s\n", s.Backend, plural(s.MaxIterations, "iteration"), s.Timeout)
	v.underWay("waiting")
	return v
}

// text is told each piece of an answer.
func (v *loopView) text(delta string) {
	v.seen += utf8.RuneCountInString(delta)
	last := delta[strings.LastIndexByte(delta, '\n')+1:]
	v.underWay(fmt.Sprintf("%d characters: %s", v.seen, last))
}

// activity receives the actions that an agent takes by itself.
func (v *loopView) activity(tool string) {
	if tool != "" {
		v.tools++
		v.underWay(fmt.Sprintf("%s, the last one %s", plural(v.tools, "tool call"), tool))
	}
}

// iteration leaves a line for an iteration.
func (v *loopView) iteration(e loop.Entry) {
	v.n, v.seen, v.tools = e.N, 0, 0
	said := e.Answer
	if e.Error != "" {
		said = "failed: " + e.Error
	}
	v.print(fmt.Sprintf("%3d/%d  %8s  %s", e.N, v.limit, e.Duration.Round(time.Millisecond), v.said(said)))
	v.underWay("waiting")
}

// Tell implements event.Sink: it shows what changes the course.
func (v *loopView) Tell(e event.Event) {
	refused := e.Kind == event.Verdict && e.Name == "stop" && e.Attrs["allow"] == false
	if e.Kind != event.State && e.Kind != event.HandOver && !refused {
		return
	}
	v.print(fmt.Sprintf("        %s: %s", e.Name, v.said(e.Detail)))
}

func (v *loopView) underWay(what string) {
	if !v.term.Live {
		return
	}
	v.live(fmt.Sprintf("%3d/%d  %s", v.n+1, v.limit, v.said(what)))
}
