package drive

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

// calm is a trial that goes on where t stands when nothing is wrong any more: the
// script stands where it stood, and the clock shows the same time. What happens in
// it is no part of t, so that an agent can be taken up again after a perturbed run
// without a trace in that run's measures.
func (t *trial) calm(ctx context.Context) (*trial, llm.Adapter, error) {
	calm := &trial{script: t.script, env: t.env, clock: t.clock, random: t.random}
	if now, ok := t.clock.(*clock.Virtual); ok {
		later := clock.NewVirtual()
		if err := later.Sleep(ctx, now.Elapsed()); err != nil {
			return nil, nil, fmt.Errorf("set the clock: %w", err)
		}
		calm.clock = later
	}
	if t.engine != nil {
		calm.engine = t.engine.Calm(calm.clock)
	}
	calm.collector = record.NewCollector(record.CollectorOptions{Clock: calm.clock}) // nobody reads it
	backend, err := calm.backend(ctx)
	if err != nil {
		_ = calm.release()
		return nil, nil, err
	}
	return calm, backend, nil
}

// resumed tells how a run that had ended came to an end when it was taken up again.
func resumed(status, details string) event.Event {
	return event.Event{Kind: event.State, Name: "resumed", Detail: details, Attrs: map[string]any{"status": status}}
}

// promising tells of promises that were not kept.
type promising struct {
	event.Sink
	when string // said before each
}

// broken tells of a promise that was not kept.
func (p promising) broken(format string, args ...any) {
	p.Tell(event.Event{
		Kind: event.Verdict, Name: "promise", Detail: p.when + fmt.Sprintf(format, args...), Attrs: map[string]any{"kept": false},
	})
}

// afterwards says that what was promised was not kept by a run that was taken up again.
const afterwards = "after it was taken up again: "
