package loop

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// progress has the no-progress guards. A guard with limit 0 is off.
type progress struct {
	identical, alternation, near, unchanged int

	state            string // of the files, as far as known
	still            int    // iterations in a row that changed no file
	same, nearlySame run.Repeats
	cycle            run.Cycle
}

func newProgress(s Settings) progress {
	return progress{identical: s.NoProgressLimit, alternation: s.AlternationLimit, near: s.NearIdenticalLimit, unchanged: s.UnchangedLimit}
}

// begin sets the state of the files before the first iteration.
func (p *progress) begin(w Work) {
	if p.state == "" {
		p.state = w.State
	}
}

// changed adds the state of the files after an iteration. Changed files are progress, whatever the answer.
func (p *progress) changed(w Work) {
	if w.State == "" {
		return
	}
	known, moved := p.state != "", w.State != p.state
	if !known && w.Changes != nil { // the first iteration in the record of another process
		known, moved = true, w.Changes.Count > 0
	}
	switch {
	case known && moved:
		p.same, p.nearlySame, p.cycle, p.still = run.Repeats{}, run.Repeats{}, run.Cycle{}, 0
	case known && !w.Partial:
		p.still++
	}
	p.state = w.State
}

// next adds an answer and the state of the files after it. It returns the ending if a guard fires; the
// strictest guard wins.
func (p *progress) next(answer string, w Work) *run.Ending {
	p.changed(w)
	same := p.same.Next(answer)
	period, times := p.cycle.Next(answer)
	nearly := 0
	if p.near > 0 {
		nearly = p.nearlySame.Next(run.Near(answer))
	}
	switch {
	case p.identical > 0 && same >= p.identical:
		return stuck("no_progress_limit", p.identical, fmt.Sprintf("%d identical answers in a row", same))
	case p.alternation > 0 && times >= p.alternation:
		return stuck("alternation_limit", p.alternation, fmt.Sprintf("%d alternating answers came %d times in a row", period, times))
	case p.near > 0 && nearly >= p.near:
		return stuck("near_identical_limit", p.near, fmt.Sprintf("%d near-identical answers in a row", nearly))
	case p.unchanged > 0 && p.still >= p.unchanged:
		return stuck("unchanged_limit", p.unchanged, fmt.Sprintf("%s in a row that changed no file", format.Plural(p.still, "iteration")))
	}
	return nil
}

func stuck(option string, limit int, what string) *run.Ending {
	return &run.Ending{
		Status: StatusNoProgress, Guard: option,
		Details: fmt.Sprintf("stopped after %s (%s %d)", what, option, limit),
	}
}
