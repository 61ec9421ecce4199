package main

import (
	"io"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// maxShown is how much of a foreign text is shown in a line, in characters.
const maxShown = 300

// liveView shows a person how work goes on: lines that stay and, on a terminal, a status
// line at the end. It is safe for concurrent use.
type liveView struct {
	out    io.Writer
	term   tty.Terminal
	redact *redact.Redactor
	status *tty.StatusLine
}

// said returns a foreign text as it is shown: without secrets, in one line, and short.
// Secrets are replaced first, as half a secret would not be recognised.
func (v *liveView) said(text string) string { return sanitize.Line(v.redact.Text(text), maxShown) }

// newLiveView draws on standard error, or nowhere.
func (a *app) newLiveView(quiet bool) *liveView {
	if quiet {
		return newLiveViewOn(io.Discard, tty.Terminal{})
	}
	v := newLiveViewOn(a.stderr, a.terminal())
	v.redact = redactor()
	return v
}

func newLiveViewOn(out io.Writer, term tty.Terminal) *liveView {
	return &liveView{out: out, term: term, status: tty.NewStatusLine(out, term, time.Now)}
}

// print leaves a line; one that would wrap is cut where somebody watches.
func (v *liveView) print(line string) {
	if v.term.Live {
		line = tty.Cut(line, v.term.Columns()-1)
	}
	v.status.Print(line)
}

// live draws the status line, at most ten times a second.
func (v *liveView) live(line string) {
	if v.term.Live {
		v.status.Update(func() (string, string) { return line, "" })
	}
}

// follow draws what line returns each second, until stop is called.
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

// close removes the status line.
func (v *liveView) close() { v.status.Clear() }
