// Package console writes to terminals: lines, a status line that is redrawn in place, pages of text,
// tables, and questions.
package console

import (
	"io"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// MaxText limits a foreign text in a line, in characters.
const MaxText = 300

// View shows the progress of work: lines and, on a terminal, a status line at the end. It is safe for
// concurrent use.
type View struct {
	Out    io.Writer
	Term   Terminal
	redact *redact.Redactor
	status *StatusLine
}

// NewView returns a view that removes secrets.
func NewView(out io.Writer, term Terminal, redact *redact.Redactor) *View {
	return &View{Out: out, Term: term, redact: redact, status: NewStatusLine(out, term, time.Now)} //nolint:forbidigo // a person watches
}

// Clean returns a foreign text as a short line without secrets. It removes secrets first, because it
// would not recognise a truncated one.
func (v *View) Clean(text string) string { return sanitize.Line(v.redact.Text(text), MaxText) }

// Print writes a line above the status line. On a terminal it truncates the line to the width.
func (v *View) Print(line string) {
	if v.Term.Live {
		line = Cut(line, v.Term.Columns()-1)
	}
	v.status.Print(line)
}

// Update redraws the status line, at most ten times a second.
func (v *View) Update(line string) {
	if v.Term.Live {
		v.status.Update(func() (string, string) { return line, "" })
	}
}

// Draw redraws the status line immediately.
func (v *View) Draw(line string) { v.status.Draw(line) }

// Follow redraws the status line with the result of line each second, until stop is called.
func (v *View) Follow(line func() string) (stop func()) {
	if !v.Term.Live {
		return func() {}
	}
	return EverySecond(func() { v.Update(line()) })
}

// EverySecond calls do each second, until stop is called.
func EverySecond(do func()) (stop func()) {
	ticker := time.NewTicker(time.Second) //nolint:forbidigo // a person watches
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				do()
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		drawing.Wait()
	}
}

// Pause stops drawing the status line, for example while somebody types.
func (v *View) Pause(paused bool) { v.status.Pause(paused) }

// Close removes the status line.
func (v *View) Close() { v.status.Clear() }
