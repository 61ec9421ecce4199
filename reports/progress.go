package reports

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Progress shows the progress of a run: a line for each scenario that did not pass, and a status
// line with a bar, counts, the time that is left and the names of what is running. It is safe for
// concurrent use.
type Progress struct {
	status *console.StatusLine
	term   console.Terminal
	now    func() time.Time
	began  time.Time
	total  int // trials planned

	mu      sync.Mutex
	done    Count     // trials that ended
	running []ongoing // trials that began and did not end, in that order
	times   trialTimes
	name    string // of the scenario whose trials are being delivered
	part    Count  // its trials
	closed  bool
	dots    io.Writer // nil without dots
	dotTerm console.Terminal
	column  int // of the last dot
}

// NewProgress returns the progress of a run with that many trials. now limits how often it is
// drawn.
func NewProgress(out io.Writer, term console.Terminal, now func() time.Time, trials int) *Progress {
	return &Progress{status: console.NewStatusLine(out, term, now), term: term, now: now, began: now(), total: trials}
}

// TrialBegan implements harness.Observer.
func (p *Progress) TrialBegan(scenario string, _ int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, ongoing{sanitize.Line(scenario, maxName), scenario, p.now()})
	p.draw()
}

// TrialEnded implements harness.Observer.
func (p *Progress) TrialEnded(scenario string, _ int, v gate.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.running, func(t ongoing) bool { return t.scenario == scenario }); i >= 0 {
		if v != "" {
			p.times.add(scenario, p.now().Sub(p.running[i].since))
		}
		p.running = slices.Delete(p.running, i, i+1)
	}
	if v != "" {
		p.done.Add(v)
		p.dot(v)
	}
	p.draw()
}

// Dots shows a character for each trial on out instead: "." passed, "F" failed, "E" error, "s" skipped.
// It ignores errors of out, because they must not stop the work.
func (p *Progress) Dots(out io.Writer, term console.Terminal) { p.dots, p.dotTerm = out, term }

// dot draws the character of a trial.
func (p *Progress) dot(v gate.Verdict) {
	if p.dots == nil {
		return
	}
	sign, color := ".", console.Green
	switch v {
	case gate.Pass:
	case gate.Skip:
		sign, color = "s", console.Yellow
	case gate.Fail:
		sign, color = "F", console.Red
	default:
		sign, color = "E", console.Red
	}
	if p.column++; p.column == p.dotTerm.Columns() {
		sign, p.column = sign+"\n", 0
	}
	fmt.Fprint(p.dots, p.dotTerm.Paint(color, sign))
}

// Scenario begins a scenario, in the order of the plan, and ends the previous one.
func (p *Progress) Scenario(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	p.name = sanitize.Line(name, maxName)
}

// Trial adds the verdict of a trial of the current scenario.
func (p *Progress) Trial(v gate.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.part.Add(v)
}

// Follow redraws the status line each second on a terminal, until stop is called.
func (p *Progress) Follow() (stop func()) {
	if !p.term.Live {
		return func() {}
	}
	return console.EverySecond(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.draw()
	})
}

// Close ends the last scenario and removes the status line. It may be called
// more than once.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	if p.dots != nil && p.column > 0 {
		fmt.Fprintln(p.dots)
		p.column = 0
	}
	p.closed = true
	p.status.Clear()
}

// end reports the current scenario if it did not pass.
func (p *Progress) end() {
	part, name := p.part, p.name
	p.name, p.part = "", Count{}
	if part.Total() == 0 {
		return
	}
	verdict := part.Verdict()
	if !failed(verdict) || p.dots != nil {
		return
	}
	label := p.term.Paint(console.Red, fmt.Sprintf("%-5s", verdict))
	trials := ""
	if part.Total() > 1 {
		trials = fmt.Sprintf(" (%d of %s passed)", part.Pass, format.Plural(part.Total(), "trial"))
	}
	if p.term.Live {
		name = console.Middle(name, p.term.Columns()-1-len("error ")-len(trials))
	}
	p.status.Print(label + " " + name + trials)
}

// draw updates the status line.
func (p *Progress) draw() {
	if p.closed || p.dots != nil {
		return
	}
	p.status.Update(func() (text, detail string) {
		text = p.work().Line(p.term)
		if !p.term.Live {
			return text, ""
		}
		return text, p.names(p.term.Columns() - 1 - console.Width(text))
	})
}

// work returns what is done and what did not pass.
func (p *Progress) work() console.Work {
	text := fmt.Sprintf("%d/%d trials", p.done.Total(), p.total)
	if bad := p.done.Fail + p.done.Error; bad > 0 {
		text += fmt.Sprintf(", %d not passed", bad)
	}
	now := p.now()
	return console.Work{
		Text: text, Done: p.done.Total(), Total: p.total, Elapsed: now.Sub(p.began), Share: p.times.share(p.running, now),
	}
}

// names returns what is running in at most room columns: a scenario once, the longest running
// first.
func (p *Progress) names(room int) string {
	const gap = "  "
	var names []string
	for _, t := range p.running {
		if !slices.Contains(names, t.name) {
			names = append(names, t.name)
		}
	}
	if len(names) == 0 || room < 10 {
		return ""
	}
	text := gap + names[0]
	for i, name := range names[1:] {
		more := fmt.Sprintf(" +%d", len(names)-1-i)
		if console.Width(text+", "+name)+len(more) > room {
			text += more
			break
		}
		text += ", " + name
	}
	return console.Middle(text, room)
}
