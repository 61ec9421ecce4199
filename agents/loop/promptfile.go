package loop

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
)

// reread reads the prompt again, if it may change during the run.
func (r *runner) reread(n int) *run.Ending {
	if r.dep.ReadPrompt == nil {
		return nil
	}
	text, err := r.dep.ReadPrompt()
	if err == nil && strings.TrimSpace(text) == "" {
		err = errors.New("the prompt is empty")
	}
	if err != nil {
		return run.Failed(fmt.Errorf("prepare iteration %d: %w", n, err))
	}
	if text != r.set.Prompt {
		r.set.Prompt = text
		r.dialogue.retask(text, n > 1)
	}
	return nil
}

// retask replaces the task. An agent that has begun is told that it changed.
func (d *dialogue) retask(task string, begun bool) {
	d.task = task
	d.turn = ""
	whole := d.whole("")
	if begun {
		d.turn = noteRetask.in(d.language) + whole
	}
	if begun && !d.fresh {
		whole = d.turn
	}
	d.replaceLast(whole)
}
