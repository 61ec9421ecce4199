package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// exploring shows the progress of an exploration.
type exploring struct {
	work    *longWork
	workers int
	failed  int
	golden  time.Time // when the golden path began
}

func newExploring(work *longWork, workers int) *exploring {
	return &exploring{work: work, workers: max(workers, 1), golden: work.began}
}

// update is a function for explore.Options.Progress.
func (e *exploring) update(p explore.Progress) {
	if p.Doing == "plan" {
		e.forecast(p.Forecast)
		return
	}
	work := console.Work{Text: p.Doing, Done: p.Done, Total: p.Planned}
	if p.Planned > 1 {
		work.Text = fmt.Sprintf("%d/%d runs", p.Done, p.Planned)
		if p.Doing == "shrinking" {
			work.Text = fmt.Sprintf("shrinking %d/%d failures", p.Done, p.Planned)
		}
	}
	detail := ""
	if p.Cell != nil {
		if p.Cell.Outcome == result.Failed {
			e.failed++
		}
		perturbed := strings.Join(p.Cell.Perturb, " ")
		e.work.list(fmt.Sprintf("%-9s %s", p.Cell.Outcome, perturbed))
		detail = "  " + perturbed
	}
	if e.failed > 0 {
		work.Text += fmt.Sprintf(", %d failed", e.failed)
	}
	e.work.update(work, detail)
}

// forecast announces the runs. In real time the golden path has shown how long one takes.
func (e *exploring) forecast(f explore.Forecast) {
	now := e.work.now()
	one := now.Sub(e.golden)
	e.work.began = now
	e.work.plan = format.Plural(f.Runs, "run")
	if f.Later > 0 {
		e.work.plan = fmt.Sprintf("%d to %d runs", f.Runs, f.Runs+f.Later)
	}
	e.work.later = f.Later
	e.work.advice = "--family, --pairs and --max-runs make it shorter"
	if f.RealTime {
		e.work.announce((one*time.Duration(f.Runs+f.Later) + f.Wait) / time.Duration(e.workers))
	}
}
