package experiment

import (
	"context"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// purse meters one trial against the budget of the whole experiment, and ends the trial when a call
// is refused.
type purse struct {
	all  *llm.Budget
	head record.Scenario // which has the price
	stop context.CancelCauseFunc

	mu    sync.Mutex
	calls int
	cut   error // why a call was refused
}

// Reserve implements drive.Meter.
func (p *purse) Reserve() error {
	err := p.all.Reserve()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.cut = err
		p.stop(err)
		return err
	}
	p.calls++
	return nil
}

// Add implements drive.Meter. A call is charged as in the facts of its trial: by the price of the
// scenario's model if that answered, else by the cost that the backend reported.
func (p *purse) Add(model string, usage *llm.Usage, reportedUSD *float64) {
	usd, unknown := measure.CallCostUSD(&p.head, &record.Call{Model: model, Usage: usage, ReportedUSD: reportedUSD})
	if unknown != "" {
		p.all.Add(model, nil, nil)
		return
	}
	p.all.Add(model, usage, &usd)
}

// spent returns the number of calls, and why one was refused; nil if none was.
func (p *purse) spent() (calls int, refused error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls, p.cut
}

// item is one trial of a variant in a scenario, and the driver of this trial only.
type item struct {
	drive.Driver
	variant, scenario, trial int
	budget                   *llm.Budget // nil where nothing is capped
	tally                    *tally
}

// tally counts the calls of an item, if there is a budget.
type tally struct {
	calls int
	cut   error // why one was refused
}

// Head implements drive.Driver.
func (i *item) Head() record.Scenario {
	head := i.Driver.Head()
	head.Trials = 1
	return head
}

// Perturbed implements drive.Driver: the golden path of a perturbed scenario is driven with the
// same number and from the same budget.
func (i *item) Perturbed(ps []perturb.Perturbation) (drive.Driver, error) {
	driver, err := i.Driver.Perturbed(ps)
	if err != nil {
		return nil, err
	}
	other := *i
	other.Driver = driver
	return &other, nil
}

// Trial implements drive.Driver. It carries out the item's trial, whatever number the run passes.
func (i *item) Trial(ctx context.Context, _ int) (record.Trial, []record.Timing) {
	if i.budget == nil {
		return i.Driver.Trial(ctx, i.trial)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := &purse{all: i.budget, head: i.Driver.Head(), stop: stop}
	trial, timings := i.Driver.Trial(drive.WithMeter(ctx, p), i.trial)
	calls, refused := p.spent()
	i.tally.calls += calls
	if i.tally.cut == nil {
		i.tally.cut = refused
	}
	return trial, timings
}
