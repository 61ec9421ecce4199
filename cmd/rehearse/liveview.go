package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// maxShown is how much of a foreign text is shown in a line, in characters.
const maxShown = 300

// liveView tells a person how work goes on: lines that stay, and on a terminal a
// last one that is drawn over while something is under way. It is safe for
// concurrent use.
type liveView struct {
	out    io.Writer
	term   tty.Terminal
	redact *redact.Redactor
	mu     sync.Mutex
	drawn  time.Time
	dirty  bool
	still  bool // somebody is typing
}

// said is a foreign text as it is shown: without secrets, in one line, and short. The
// secrets go first, as half of one is not known for one.
func (v *liveView) said(text string) string { return sanitize.Line(v.redact.Text(text), maxShown) }

// newLiveView draws on standard error, or nowhere.
func (a *app) newLiveView(quiet bool) *liveView {
	if quiet {
		return &liveView{out: io.Discard}
	}
	return &liveView{out: a.stderr, term: a.terminal(), redact: redactor()}
}

// print leaves a line; one that would wrap is cut where somebody watches.
func (v *liveView) print(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	if v.term.Live {
		line = short(line, v.term.Columns()-1)
	}
	fmt.Fprintln(v.out, line)
}

// live draws the line under way, at most ten times a second.
func (v *liveView) live(line string) { v.draw(line, 100*time.Millisecond) }

// draw draws the line under way, unless one was drawn within that time.
func (v *liveView) draw(line string, within time.Duration) {
	if !v.term.Live {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	if v.still || v.dirty && now.Sub(v.drawn) < within {
		return
	}
	v.drawn, v.dirty = now, true
	fmt.Fprint(v.out, "\r\x1b[K"+short(line, v.term.Columns()-1))
}

// follow draws what line says each second, until stop is called.
func (v *liveView) follow(line func() string) (stop func()) {
	if !v.term.Live {
		return func() {}
	}
	ticker, done := time.NewTicker(time.Second), make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				v.live(line())
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		drawing.Wait()
	}
}

// hold keeps the line under way from being drawn while somebody types.
func (v *liveView) hold(still bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	v.still = still
}

// close leaves nothing of the line under way.
func (v *liveView) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
}

func (v *liveView) erase() {
	if v.dirty {
		fmt.Fprint(v.out, "\r\x1b[K")
		v.dirty = false
	}
}

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
