package experiment

import (
	"cmp"
	"context"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// trialMeter meters one trial against the budget of the whole experiment, and ends the trial when a
// call is refused.
type trialMeter struct {
	budget *llm.Budget
	head   record.Scenario // has the price
	stop   context.CancelCauseFunc

	mu      sync.Mutex
	calls   int
	refusal error // why a call was refused; nil if none was
}

// Reserve implements drive.Meter.
func (m *trialMeter) Reserve(context.Context, drive.Call) (drive.Settle, error) {
	err := m.budget.Reserve()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.refusal = err
		m.stop(err)
		return nil, err
	}
	m.calls++
	return m.settle, nil
}

// settle charges a call as in the facts of its trial: by the price of the scenario's model if that
// answered, else by the cost that the backend reported.
func (m *trialMeter) settle(reply llm.Reply, err error) {
	if err != nil && reply.Usage == nil && reply.ReportedUSD == nil {
		return
	}
	usd, unknown := measure.CallCostUSD(&m.head, &record.Call{Model: reply.Model, Usage: reply.Usage, ReportedUSD: reply.ReportedUSD})
	if unknown != "" {
		m.budget.Add(reply.Model, nil, nil)
		return
	}
	m.budget.Add(reply.Model, reply.Usage, &usd)
}

// spent returns the number of calls, and why one was refused; nil if none was.
func (m *trialMeter) spent() (calls int, refusal error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls, m.refusal
}

// item is one trial of a variant in a scenario, and the driver of this trial only.
type item struct {
	drive.Driver
	variant, scenario, trial int
	budget                   *llm.Budget // nil without caps
	tally                    *tally
}

// tally counts the calls of an item, if there is a budget.
type tally struct {
	calls   int
	refusal error // why a call was refused; nil if none was
}

// Head implements drive.Driver.
func (i *item) Head() record.Scenario {
	head := i.Driver.Head()
	head.Trials = 1
	return head
}

// Perturbed implements drive.Driver: the golden path of a perturbed scenario runs with the same trial
// number and budget.
func (i *item) Perturbed(ps []perturb.Perturbation) (drive.Driver, error) {
	driver, err := i.Driver.Perturbed(ps)
	if err != nil {
		return nil, err
	}
	other := *i
	other.Driver = driver
	return &other, nil
}

// Trial implements drive.Driver. It runs the item's trial, whatever number the run passes.
func (i *item) Trial(ctx context.Context, _ int) (record.Trial, []record.Timing) {
	if i.budget == nil {
		return i.Driver.Trial(ctx, i.trial)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	m := &trialMeter{budget: i.budget, head: i.Driver.Head(), stop: stop}
	trial, timings := i.Driver.Trial(drive.WithMeter(ctx, m), i.trial)
	calls, refusal := m.spent()
	i.tally.calls += calls
	i.tally.refusal = cmp.Or(i.tally.refusal, refusal)
	return trial, timings
}
