package cli

import (
	"io"
	"time"

	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// longWork shows the progress of an exploration or an experiment: how many runs there are and about
// how long they take, as soon as that is known, then a status line.
type longWork struct {
	status  *console.StatusLine
	term    console.Terminal
	now     func() time.Time
	began   time.Time
	verbose bool
	plan    string // describes the work; empty once it was shown
	later   int    // parts that may follow the planned ones
	advice  string // how there would be less of it
}

// newLongWork returns the progress of work that begins now. A quiet one shows nothing.
func newLongWork(out io.Writer, term console.Terminal, now func() time.Time, detail detailFlags) *longWork {
	if detail.quiet {
		out, term = io.Discard, console.Terminal{}
	}
	return &longWork{status: console.NewStatusLine(out, term, now), term: term, now: now, began: now(), verbose: detail.verbose}
}

// The work is announced with an estimate, unless it is short: the estimate needs measureFor, and
// work that takes less than announceFrom is over before the line is read.
const (
	measureFor   = time.Second
	announceFrom = 5 * time.Second
)

// announce shows the plan with an estimate, once.
func (w *longWork) announce(whole time.Duration) {
	plan := w.plan
	w.plan = ""
	switch {
	case plan == "":
	case whole >= announceFrom:
		w.status.Print(plan + ", about " + format.Seconds(console.Approximate(whole).Seconds()) + "; " + w.advice)
	case w.verbose:
		w.status.Print(plan)
	}
}

// update shows how far the work is. The text of work is without times.
func (w *longWork) update(work console.Work, detail string) {
	work.Elapsed = w.now().Sub(w.began)
	if made := work.Done - work.Before; made > 0 && work.Elapsed >= measureFor {
		w.announce(time.Duration(float64(work.Elapsed) / float64(made) * float64(work.Total+w.later-work.Before)))
	}
	w.status.Update(func() (string, string) { return work.Line(w.term), detail })
}

// list prints a line about a part of the work, if it is verbose.
func (w *longWork) list(line string) {
	if w.verbose {
		w.status.Print(line)
	}
}
