package loop

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
)

// progress has the no-progress guards. A guard with limit 0 is off.
type progress struct {
	identical, alternation, near int

	same, nearlySame run.Repeats
	cycle            run.Cycle
}

func newProgress(s Settings) progress {
	return progress{identical: s.NoProgressLimit, alternation: s.AlternationLimit, near: s.NearIdenticalLimit}
}

// next adds an answer. It returns the ending if a guard fires; the strictest guard wins.
func (p *progress) next(answer string) *run.Ending {
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
	}
	return nil
}

func stuck(option string, limit int, what string) *run.Ending {
	return &run.Ending{
		Status: StatusNoProgress, Guard: option,
		Details: fmt.Sprintf("stopped after %s (%s %d)", what, option, limit),
	}
}
