package drive

import (
	"context"
	"errors"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Agent describes an agent that runs in this process, as its kind configured it from the
// options of a scenario.
type Agent struct {
	// Limits are the settings that are recorded as JSON, without secrets; nil for none.
	Limits any
	// InterruptAfter is the time on the trial's clock at which the user presses Ctrl-C;
	// 0: never.
	InterruptAfter quantity.Duration
	// Points, if given, completes the points of perturbation. By default they are the faults
	// of the backend and the client's attempts at a call, without writes and turns.
	Points func(*Points)
	// Run runs the agent until it ends. It is safe for concurrent use.
	Run func(ctx context.Context, t *Trial) record.End
	// Forks is true if Run calls Trial.Checkpoint between its turns and can start at a state of
	// Trial.ForkedAt.
	Forks bool
}

// NewAgent returns the driver of an agent.
func NewAgent(sc scenarios.Scenario, env *Env, a Agent) (Driver, error) {
	d, err := newDriver(sc, env, a.Limits, sc.Backend.Kind() != scenarios.InProcess)
	if err != nil {
		return nil, err
	}
	d.points = a.Points
	d.forks = a.Forks && a.InterruptAfter == 0 && sc.Backend.Kind() == scenarios.InProcess && len(sc.MCP) == 0
	d.runTrial = func(ctx context.Context, d *driver, n int) (record.Trial, []record.Timing) {
		return d.runAgent(ctx, n, &a)
	}
	return d, nil
}

func (d *driver) runAgent(ctx context.Context, n int, a *Agent) (record.Trial, []record.Timing) {
	t := d.begin(n, nil)
	defer func() { _ = t.Release() }() // in case of a panic; finish reports its error
	if n == tapedTrial {
		if err := d.fork(ctx, t); err != nil {
			return t.finish(Failed("fork the golden path", err)), nil
		}
	}
	if why := d.env.whyForbidden(d.scenario.Backend); why != "" {
		return t.finish(d.forbidden(why)), nil
	}
	if err := t.connectBackend(ctx); err != nil {
		doing := "start the scripted backend"
		if d.scenario.Backend.Live() {
			doing = "prepare the live backend"
		}
		return t.finish(Failed(doing, err)), nil
	}
	ctx, stop := interruptAfter(ctx, t.Clock, a.InterruptAfter.Std())
	defer stop()
	trial := t.finish(d.scored(ctx, t, a.Run(ctx, t)))
	return trial, t.collector.Timings()
}

// forbidden ends a trial whose live backend must not be called.
func (d *driver) forbidden(why string) record.End {
	if d.env.Required {
		return Failed("drive the scenario", errors.New(why))
	}
	return record.End{Status: "skipped", Skipped: why}
}
