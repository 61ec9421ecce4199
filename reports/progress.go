package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
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
	done    Count    // trials that ended
	running []string // scenarios of the trials that began and did not end, in that order
	name    string   // of the scenario whose trials are being delivered
	part    Count    // its trials
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
	p.running = append(p.running, sanitize.Line(scenario, maxName))
	p.draw()
}

// TrialEnded implements harness.Observer.
func (p *Progress) TrialEnded(scenario string, _ int, v gate.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.running, sanitize.Line(scenario, maxName)); i >= 0 {
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
		text = p.counts()
		if !p.term.Live {
			return text, ""
		}
		room := p.term.Columns() - 1
		if width := 20; room >= width+2+console.Width(text)+10 {
			text = bar(p.done.Total(), p.total, width) + " " + text
		}
		return text, p.names(room - console.Width(text))
	})
}

// counts returns what is done, what did not pass, and how long it took and will take.
func (p *Progress) counts() string {
	text := fmt.Sprintf("%d/%d trials", p.done.Total(), p.total)
	if bad := p.done.Fail + p.done.Error; bad > 0 {
		text += fmt.Sprintf(", %d not passed", bad)
	}
	elapsed := p.now().Sub(p.began)
	if elapsed >= time.Second {
		text += ", " + format.Seconds(math.Floor(elapsed.Seconds()))
	}
	if left, ok := timeLeft(elapsed, p.done.Total(), p.total); ok {
		text += ", about " + format.Seconds(left.Seconds()) + " left"
	}
	return text
}

// timeLeft estimates how long the trials that are left take, from the mean of those that ended. It
// needs three seconds and five trials, and is not more precise than it can be.
func timeLeft(elapsed time.Duration, done, total int) (time.Duration, bool) {
	const leastTime, leastTrials = 3 * time.Second, 5
	if elapsed < leastTime || done < leastTrials || done >= total {
		return 0, false
	}
	left := time.Duration(float64(elapsed) / float64(done) * float64(total-done))
	step := time.Second
	if left > time.Minute {
		step = 10 * time.Second
	}
	return max(left.Round(step), step), true
}

// bar draws the share of what is done, in characters that every terminal has.
func bar(done, total, width int) string {
	full := 0
	if total > 0 {
		full = min(done*width/total, width)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}

// names returns what is running in at most room columns: a scenario once, the longest running
// first.
func (p *Progress) names(room int) string {
	const gap = "  "
	var names []string
	for _, name := range p.running {
		if !slices.Contains(names, name) {
			names = append(names, name)
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
