package reports

import (
	"fmt"
	"io"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Progress shows the progress of a run: a line for each scenario that did not pass, and a status
// line. It is not safe for concurrent use.
type Progress struct {
	status *console.StatusLine
	term   console.Terminal
	total  int // trials planned

	done Count  // all trials so far
	name string // of the current scenario
	part Count  // its trials
}

// NewProgress returns the progress of a run with that many trials. now limits how often it is
// drawn.
func NewProgress(out io.Writer, term console.Terminal, now func() time.Time, trials int) *Progress {
	return &Progress{status: console.NewStatusLine(out, term, now), term: term, total: trials}
}

// Begin begins a scenario and ends the previous one.
func (p *Progress) Begin(scenario string) {
	p.end()
	p.name = sanitize.Line(scenario, maxName)
	p.draw()
}

// Trial adds the verdict of a trial of the current scenario.
func (p *Progress) Trial(v gate.Verdict) {
	p.done.Add(v)
	p.part.Add(v)
	p.draw()
}

// Close ends the last scenario and removes the status line. It may be called
// more than once.
func (p *Progress) Close() {
	p.end()
	p.status.Clear()
}

// end reports the current scenario if it did not pass.
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
	label := p.term.Paint(console.Red, fmt.Sprintf("%-5s", verdict))
	trials := ""
	if part.Total() > 1 {
		trials = fmt.Sprintf(" (%d of %s passed)", part.Pass, format.Plural(part.Total(), "trial"))
	}
	p.status.Print(label + " " + name + trials)
}

// draw updates the status line.
func (p *Progress) draw() {
	p.status.Update(func() (text, detail string) {
		text = fmt.Sprintf("%d/%d trials", p.done.Total(), p.total)
		if bad := p.done.Fail + p.done.Error; bad > 0 {
			text += fmt.Sprintf(", %d not passed", bad)
		}
		return text, console.Middle("  "+p.name, p.term.Columns()-1-console.Width(text))
	})
}
