package drive

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// loopDriver drives agents/loop.
type loopDriver struct {
	base
	settings loop.Settings
}

func newLoopDriver(sc scenarios.Scenario, env *Env) (*loopDriver, error) {
	drive := sc.Drive.Loop
	file := loop.Options{}
	if drive.Config != nil {
		file = *drive.Config
	}
	settings, err := loop.Resolve(drive.Options, file)
	if err != nil {
		return nil, err
	}
	d := &loopDriver{settings: settings}
	if d.base, err = newBase(sc, "loop", env); err != nil {
		return nil, err
	}
	d.head.Limits, err = limits(settings, env.Redactor)
	return d, err
}

// Points implements Driver.
func (d *loopDriver) Points() Points {
	p := d.base.Points()
	p.Timeouts = timeouts(map[string]quantity.Duration{"timeout": d.settings.Timeout, "call_timeout": d.settings.CallTimeout})
	return p
}

// Perturbed implements Driver.
func (d *loopDriver) Perturbed(ps []perturb.Perturbation) (Driver, error) {
	return d.depart(d, ps, func(b base) Driver {
		other := *d
		other.base = b
		return &other
	})
}

func (d *loopDriver) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	return d.trial(ctx, n, d.scenario.Drive.Loop.InterruptAfter, d.run)
}

func (d *loopDriver) run(ctx context.Context, t *trial, backend llm.Adapter) record.End {
	result := loop.Run(ctx, d.settings, loop.Deps{
		Backend:        t.collector.Wrap(backend),
		BackendID:      backend.ID(),
		Conversational: !d.scenario.Backend.Process(),
		Clock:          t.clock,
		Sink:           t.collector,
		Price:          d.pricer,
		EURPerUSD:      d.rate,
	})
	return record.End{
		Status:     string(result.Status),
		ExitCode:   result.ExitCode,
		Iterations: result.Iterations,
		Duration:   result.Duration,
		Text:       result.Text,
		Summary:    result.Summary,
		Details:    result.Details,
	}
}

// limits are the settings for readers of the recording, without secrets.
func limits(s loop.Settings, redact *redact.Redactor) (json.RawMessage, error) {
	for _, text := range []*string{
		&s.Prompt, &s.System, &s.ContinuePrompt, &s.Backend, &s.Model, &s.Marker, &s.BlockedMarker,
	} {
		*text = redact.Text(*text)
	}
	return describe(s)
}

// describe is a value as a recording holds it.
func describe(v any) (json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("describe the settings: %w", err)
	}
	return data, nil
}
