package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rehearse-dev/rehearse/internal/tty"
)

// progressLine is one line that is kept up to date where a line can be drawn over, and
// one every ten seconds elsewhere. It is not safe for concurrent use. Errors of the
// writer are ignored: nothing fails because nobody watches.
type progressLine struct {
	out   io.Writer
	term  tty.Terminal
	now   func() time.Time
	drawn time.Time
	dirty bool
}

// begin says that it may be told of something from now on.
func (p *progressLine) begin() {
	if !p.term.Live {
		p.drawn = p.now() // what is short leaves no line in a log
	}
}

// tell draws a line if one is due: the text, and where it can be drawn over also what is
// under way.
func (p *progressLine) tell(say func() (text, underWay string)) {
	every := 10 * time.Second
	if p.term.Live {
		every = 100 * time.Millisecond
	}
	now := p.now()
	if !p.drawn.IsZero() && now.Sub(p.drawn) < every {
		return
	}
	p.drawn = now
	text, underWay := say()
	if !p.term.Live {
		fmt.Fprintln(p.out, text)
		return
	}
	// One column stays free: some terminals wrap when the last one is written.
	fmt.Fprintf(p.out, "\r\x1b[K%s", short(text+underWay, p.term.Columns()-1))
	p.dirty = true
}

// close removes the line.
func (p *progressLine) close() {
	if p.dirty {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.dirty = false
	}
}
