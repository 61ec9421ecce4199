package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/unit"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// loopDriver drives agents/loop.
type loopDriver struct {
	scenario scenarios.Scenario
	settings loop.Settings
	script   *script
	head     record.Scenario
	pricer   budget.Pricer
	rate     float64
	env      *Env
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
	script, err := compile(sc.Backend)
	if err != nil {
		return nil, err
	}
	d := &loopDriver{scenario: sc, settings: settings, script: script, head: head(sc, "loop", env), env: env}
	d.head.Faults = script.faults()
	if d.head.Limits, err = limits(settings, env.Redactor); err != nil {
		return nil, fmt.Errorf("describe the settings: %w", err)
	}
	d.pricer, d.rate = pricer(d.head.Price)
	return d, nil
}

func (d *loopDriver) Head() record.Scenario { return d.head }

func (d *loopDriver) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	t := d.script.begin(d.scenario, n, d.env)
	defer func() { _ = t.release() }() // in case of a panic; finish reports its error
	backend, err := t.backend(ctx)
	if err != nil {
		return t.finish(harnessError("start the scripted backend", err)), nil
	}
	ctx, stop := interruptAfter(ctx, t.clock, d.scenario.Drive.Loop.InterruptAfter.Std())
	defer stop()
	result := loop.Run(ctx, d.settings, loop.Deps{
		Backend:        t.collector.Wrap(backend),
		BackendID:      backend.ID(),
		Conversational: !d.scenario.Backend.Process(),
		Clock:          t.clock,
		Sink:           t.collector,
		Price:          d.pricer,
		EURPerUSD:      d.rate,
	})
	trial := t.finish(record.End{
		Status:     string(result.Status),
		ExitCode:   result.ExitCode,
		Iterations: result.Iterations,
		Duration:   result.Duration,
		Text:       result.Text,
		Summary:    result.Summary,
		Details:    result.Details,
	})
	return trial, t.collector.Timings()
}

// limits are the settings for readers of the recording, without secrets.
func limits(s loop.Settings, redact *record.Redactor) (json.RawMessage, error) {
	for _, text := range []*string{
		&s.Prompt, &s.System, &s.ContinuePrompt, &s.Backend, &s.Model, &s.Marker, &s.BlockedMarker,
	} {
		*text = redact.Text(*text)
	}
	return json.Marshal(s)
}

// pricer prices usage by one quote, for a script answers as one model whatever
// model it is asked for. Without a quote every cost is unknown.
func pricer(quote *price.Quote) (budget.Pricer, float64) {
	if quote == nil {
		return func(string, llm.Usage) (unit.Money, bool) { return unit.Money{}, false }, 0
	}
	return func(_ string, u llm.Usage) (unit.Money, bool) {
		return quote.Cost(u), true
	}, quote.EURPerUSD
}

// errCtrlC is why a run ends that its scenario interrupts.
var errCtrlC = errors.New("the user pressed Ctrl-C, as interrupt_after says")

// interruptAfter returns a context that the user interrupts after d; never if d
// is zero.
func interruptAfter(ctx context.Context, clk clock.Clock, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func() {}
	if d > 0 {
		stop = clk.AfterFunc(d, func() { cancel(errCtrlC) })
	}
	return ctx, func() { stop(); cancel(nil) }
}
