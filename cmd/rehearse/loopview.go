package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/plain"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// loopView tells a person how a loop goes on: on a terminal one live line while a
// call is under way, and everywhere one line for each iteration.
type loopView struct {
	out   io.Writer
	term  tty.Terminal
	limit int
	n     int
	seen  int // characters of the answer under way
	drawn time.Time
	dirty bool
}

func newLoopView(out io.Writer, term tty.Terminal, s loop.Settings) *loopView {
	v := &loopView{out: out, term: term, limit: s.MaxIterations}
	fmt.Fprintf(out, "backend %s, at most %s, timeout %s\n", s.Backend, plural(s.MaxIterations, "iteration"), s.Timeout)
	v.live("waiting")
	return v
}

// text is told each piece of an answer.
func (v *loopView) text(delta string) {
	v.seen += utf8.RuneCountInString(delta)
	last := delta[strings.LastIndexByte(delta, '\n')+1:]
	v.live(fmt.Sprintf("%d characters: %s", v.seen, last))
}

// iteration leaves a line for an iteration.
func (v *loopView) iteration(e loop.Entry) {
	v.erase()
	v.n, v.seen = e.N, 0
	said := e.Answer
	if e.Error != "" {
		said = "failed: " + e.Error
	}
	v.print(fmt.Sprintf("%3d/%d  %8s  %s", e.N, v.limit, e.Duration.Round(time.Millisecond), plain.Line(said, maxShown)))
	v.live("waiting")
}

// Tell implements event.Sink: it shows what changes the course.
func (v *loopView) Tell(e event.Event) {
	refused := e.Kind == event.Verdict && e.Name == "stop" && e.Attrs["allow"] == false
	if e.Kind != event.State && e.Kind != event.HandOver && !refused {
		return
	}
	v.erase()
	v.print(fmt.Sprintf("        %s: %s", e.Name, plain.Line(e.Detail, maxShown)))
}

// maxShown is how much of a foreign text is shown, in characters.
const maxShown = 300

// print leaves a line; one that would wrap is cut where somebody watches.
func (v *loopView) print(line string) {
	if v.term.Live {
		line = short(line, v.term.Columns()-1)
	}
	fmt.Fprintln(v.out, line)
}

// live draws the line under way, at most ten times a second.
func (v *loopView) live(what string) {
	if !v.term.Live {
		return
	}
	now := time.Now()
	if v.dirty && now.Sub(v.drawn) < 100*time.Millisecond {
		return
	}
	v.drawn, v.dirty = now, true
	fmt.Fprintf(v.out, "\r\x1b[K%s", short(fmt.Sprintf("%3d/%d  %s", v.n+1, v.limit, plain.Line(what, maxShown)), v.term.Columns()-1))
}

func (v *loopView) erase() {
	if v.dirty {
		fmt.Fprint(v.out, "\r\x1b[K")
		v.dirty = false
	}
}

func (v *loopView) close() { v.erase() }

// short cuts a line at the width of the terminal.
func short(s string, width int) string {
	if tty.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && tty.Width(string(runes)) > width-1 {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}
