package drive

import (
	"context"
	"errors"
	"sync"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
)

// watch records the calls of an agent that knows nothing of the harness, as they reach
// the scripted backend, and bounds them.
type watch struct {
	trial  *trial
	budget *budget.Budget
	stop   context.CancelCauseFunc

	mu sync.Mutex
}

// overBudget is why a trial ended whose agent made a call beyond its budget.
type overBudget struct{ error }

func newWatch(d *appDriver, t *trial, stop context.CancelCauseFunc) *watch {
	caps := budget.Caps{Calls: d.talk.MaxCalls, Cost: d.talk.MaxCost}
	return &watch{trial: t, budget: budget.New(caps, d.pricer, d.rate), stop: stop}
}

// Begin implements mocks.Observer.
func (w *watch) Begin(protocol string, req llm.Request) (func(llm.Reply, error), error) {
	w.mu.Lock()
	err := w.budget.Reserve()
	w.mu.Unlock()
	if err != nil {
		w.stop(&overBudget{err})
		return nil, err
	}
	end := w.trial.collector.Begin(protocol, req)
	return func(reply llm.Reply, err error) {
		w.mu.Lock()
		if reply.Usage != nil {
			w.budget.Add(reply.Model, reply.Usage, nil)
		}
		w.mu.Unlock()
		end(reply, err, errors.Is(err, context.Canceled))
	}, nil
}
