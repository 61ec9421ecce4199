package reports

import (
	"fmt"
	"io"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// The least time between two progress lines: drawn over again, and in a log.
const (
	refresh = 100 * time.Millisecond
	pace    = 10 * time.Second
)

// Progress tells a person how far a run is: a line for each scenario that did
// not pass, and one line on the whole that is kept up to date where a line can be
// drawn over again, and repeated every 10 seconds elsewhere. It is not safe for
// concurrent use. Errors of the writer are ignored: a run does not fail because
// nobody watches.
type Progress struct {
	out   io.Writer
	term  tty.Terminal
	now   func() time.Time
	total int // trials planned

	done  Count  // all trials so far
	name  string // of the scenario under way
	part  Count  // its trials
	drawn time.Time
	dirty bool // a progress line stands on the terminal
}

// NewProgress begins to tell out about a run of so many trials. Now is the clock
// that bounds how often a line is drawn.
func NewProgress(out io.Writer, term tty.Terminal, now func() time.Time, trials int) *Progress {
	p := &Progress{out: out, term: term, now: now, total: trials}
	if !term.Live {
		p.drawn = now() // a short run leaves no line in a log
	}
	return p
}

// Begin says that the trials of a scenario follow; it ends the scenario before.
func (p *Progress) Begin(scenario string) {
	p.end()
	p.name = sanitize.Line(scenario, maxName)
	p.draw()
}

// Trial says that a trial of the scenario that began last got verdict v.
func (p *Progress) Trial(v gate.Verdict) {
	p.done.Add(v)
	p.part.Add(v)
	p.draw()
}

// Close ends the last scenario and removes the progress line. It may be called
// more than once.
func (p *Progress) Close() {
	p.end()
	p.erase()
}

// end tells about the scenario under way.
func (p *Progress) end() {
	if p.name == "" {
		return
	}
	part, name := p.part, p.name
	p.name, p.part = "", Count{}
	if part.Total() == 0 {
		return
	}
	verdict := part.Verdict()
	if !failed(verdict) {
		return
	}
	p.erase()
	label := paintVerdict(p.term, verdict, fmt.Sprintf("%-5s", verdict))
	trials := ""
	if part.Total() > 1 {
		trials = fmt.Sprintf(" (%d of %s passed)", part.Pass, format.Plural(part.Total(), "trial"))
	}
	fmt.Fprintf(p.out, "%s %s%s\n", label, name, trials)
}

// draw brings the progress line up to date, if that was not done just now.
func (p *Progress) draw() {
	every := pace
	if p.term.Live {
		every = refresh
	}
	now := p.now()
	if !p.drawn.IsZero() && now.Sub(p.drawn) < every {
		return
	}
	p.drawn = now
	line := fmt.Sprintf("%d/%d trials", p.done.Total(), p.total)
	if bad := p.done.Fail + p.done.Error; bad > 0 {
		line += fmt.Sprintf(", %d not passed", bad)
	}
	if !p.term.Live {
		fmt.Fprintln(p.out, line)
		return
	}
	// One column stays free: some terminals wrap when the last one is written.
	line = tty.Middle(line+"  "+p.name, p.term.Columns()-1)
	fmt.Fprintf(p.out, "\r\x1b[K%s", line)
	p.dirty = true
}

// erase removes the progress line.
func (p *Progress) erase() {
	if p.dirty {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.dirty = false
	}
}
