package drive

import (
	"cmp"
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/stop/followup"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// followUpDriver asks for an answer and drives agents/stop/followup with it.
type followUpDriver struct {
	base
	options followup.Options
}

func newFollowUpDriver(sc scenarios.Scenario, env *Env) (*followUpDriver, error) {
	d := &followUpDriver{options: sc.Drive.FollowUp.Options}
	var err error
	if d.base, err = newBase(sc, "follow-up", env); err != nil {
		return nil, err
	}
	shown := d.options
	shown.Task, shown.System, shown.Model = env.Redactor.Text(shown.Task), env.Redactor.Text(shown.System), env.Redactor.Text(shown.Model)
	d.head.Limits, err = describe(shown)
	return d, err
}

// Points implements Driver.
func (d *followUpDriver) Points() Points {
	p := d.base.Points()
	p.Timeouts = timeouts(map[string]quantity.Duration{"timeout": d.options.Timeout, "call_timeout": d.callTimeout()})
	return p
}

// Perturbed implements Driver.
func (d *followUpDriver) Perturbed(ps []perturb.Perturbation) (Driver, error) {
	return d.depart(d, ps, func(b base) Driver {
		other := *d
		other.base = b
		return &other
	})
}

func (d *followUpDriver) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	return d.trial(ctx, n, d.scenario.Drive.FollowUp.InterruptAfter, d.run)
}

// callTimeout is for each call, that of the task too.
func (d *followUpDriver) callTimeout() quantity.Duration {
	return cmp.Or(d.options.CallTimeout, quantity.Duration(followup.DefaultCallTimeout))
}

func (d *followUpDriver) run(ctx context.Context, t *trial, backend llm.Adapter) record.End {
	recorded := t.collector.Wrap(backend)
	start := t.clock.Now()
	timed, cancel := t.clock.WithTimeout(ctx, d.callTimeout().Std())
	defer cancel()
	first, err := recorded.Complete(timed, llm.Request{
		Purpose: "task", Model: d.options.Model, Messages: opening(d.options.System, d.options.Task),
	})
	if err != nil {
		if clock.Err(ctx) == nil && clock.Err(timed) != nil {
			err = fmt.Errorf("%s: no answer within %s (call_timeout)", llm.Timeout, d.callTimeout())
		}
		return record.End{
			Status: string(followup.StatusError), ExitCode: followup.StatusError.ExitCode(),
			Duration: t.clock.Now().Sub(start), Details: "the task was not answered: " + err.Error(),
		}
	}
	out := followup.Run(ctx, d.options, followup.Deps{
		Backend:   recorded,
		BackendID: backend.ID(),
		Clock:     t.clock,
		Sink:      t.collector,
		Price:     d.pricer,
		EURPerUSD: d.rate,
	}, first)
	return record.End{
		Status:     string(out.Status),
		ExitCode:   out.ExitCode,
		Iterations: len(out.Rounds),
		Duration:   t.clock.Now().Sub(start),
		Text:       out.Answer,
		Details:    out.Details,
	}
}

// opening begins a conversation.
func opening(system, task string) []llm.Message {
	var messages []llm.Message
	if system != "" {
		messages = append(messages, llm.Message{Role: llm.System, Content: system})
	}
	return append(messages, llm.Message{Role: llm.User, Content: task})
}
