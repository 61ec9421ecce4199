package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// exploreProgress tells a person how far an exploration is: one line that is kept up
// to date where a line can be drawn over, and one every ten seconds elsewhere. It is
// not safe for concurrent use. Errors of the writer are ignored: an exploration does
// not fail because nobody watches.
type exploreProgress struct {
	out    io.Writer
	term   tty.Terminal
	now    func() time.Time
	failed int
	drawn  time.Time
	dirty  bool
}

func newExploreProgress(out io.Writer, term tty.Terminal, now func() time.Time) *exploreProgress {
	p := &exploreProgress{out: out, term: term, now: now}
	if !term.Live {
		p.drawn = now() // a short exploration leaves no line in a log
	}
	return p
}

// tell is explore.Options.Progress.
func (p *exploreProgress) tell(e explore.Progress) {
	if e.Cell != nil && e.Cell.Outcome == survival.Failed {
		p.failed++
	}
	every := 10 * time.Second
	if p.term.Live {
		every = 100 * time.Millisecond
	}
	now := p.now()
	if !p.drawn.IsZero() && now.Sub(p.drawn) < every {
		return
	}
	p.drawn = now
	line := fmt.Sprintf("%s: %d/%d", e.Doing, e.Done, e.Planned)
	if p.failed > 0 {
		line += fmt.Sprintf(", %d failed", p.failed)
	}
	if !p.term.Live {
		fmt.Fprintln(p.out, line)
		return
	}
	if e.Cell != nil && len(e.Cell.Perturb) > 0 {
		line += "  " + e.Cell.Perturb[0]
	}
	// One column stays free: some terminals wrap when the last one is written.
	fmt.Fprintf(p.out, "\r\x1b[K%s", short(line, p.term.Columns()-1))
	p.dirty = true
}

// close removes the progress line.
func (p *exploreProgress) close() {
	if p.dirty {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.dirty = false
	}
}
