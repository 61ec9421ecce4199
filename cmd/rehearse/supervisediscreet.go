package main

import (
	"context"
	"slices"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/check"
)

// discreet stands between a supervisor and those who work for it: no secret that
// they come upon reaches the state, and the view hears of each attempt.
type discreet struct {
	redact *redact.Redactor
	view   *superviseView
}

func (g discreet) workers(workers map[string]persist.Worker) map[string]persist.Worker {
	out := make(map[string]persist.Worker, len(workers))
	for name, w := range workers {
		out[name] = discreetWorker{g, w}
	}
	return out
}

func (g discreet) probes(probes map[check.Name]check.Probe) map[check.Name]check.Probe {
	out := make(map[check.Name]check.Probe, len(probes))
	for name, p := range probes {
		out[name] = check.ProbeFunc(func(ctx context.Context) check.Result {
			r := p.Probe(ctx)
			r.Details, r.Output = g.redact.Text(r.Details), g.redact.Text(r.Output)
			r.Items = slices.Clone(r.Items)
			for i, item := range r.Items {
				r.Items[i] = g.redact.Text(item)
			}
			return r
		})
	}
	return out
}

type discreetWorker struct {
	discreet
	worker persist.Worker
}

// Work implements persist.Worker.
func (g discreetWorker) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	g.view.attempt(a)
	a.Meter = viewedMeter{a.Meter, g.view}
	o := g.worker.Work(ctx, a)
	for _, text := range []*string{&o.Answer, &o.Prose, &o.Details, &o.Warning, &o.Carry} {
		*text = g.redact.Text(*text)
	}
	return o
}

// viewedMeter shows the calls of an attempt as they are made.
type viewedMeter struct {
	persist.Meter
	view *superviseView
}

// Call implements persist.Meter.
func (m viewedMeter) Call(n int) error {
	err := m.Meter.Call(n)
	if err == nil {
		m.view.called(n)
	}
	return err
}
