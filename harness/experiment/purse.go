package experiment

import (
	"context"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/unit"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
	"github.com/rehearse-dev/rehearse/llm/price"
)

// purse is what one trial may spend of what the whole experiment may: it ends the trial
// when a call is refused.
type purse struct {
	all   *budget.Budget
	quote *price.Quote // of the model that answers; nil if it has no price
	stop  context.CancelCauseFunc

	mu  sync.Mutex
	cut error // why a call was refused
}

// Reserve implements drive.Meter.
func (p *purse) Reserve() error {
	err := p.all.Reserve()
	if err != nil {
		p.mu.Lock()
		p.cut = err
		p.mu.Unlock()
		p.stop(err)
	}
	return err
}

// Add implements drive.Meter. The price is that of the scenario's model, as in its facts.
func (p *purse) Add(model string, usage *llm.Usage, reportedUSD *float64) {
	if usage != nil && p.quote != nil {
		if usd, ok := p.quote.Cost(*usage).In(unit.USD, p.quote.EURPerUSD); ok {
			reportedUSD = &usd
		}
	}
	p.all.Add(model, usage, reportedUSD)
}

// refused is why a call was refused; nil if none was.
func (p *purse) refused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

// item is one trial of a variant in a scenario. It is the driver of just this trial.
type item struct {
	drive.Driver
	variant, scenario, trial int
	budget                   *budget.Budget // nil where nothing is capped
	cut                      error          // why the trial was cut off; read when it was told
}

// Head implements drive.Driver.
func (i *item) Head() record.Scenario {
	head := i.Driver.Head()
	head.Trials = 1
	return head
}

// Trial implements drive.Driver: it carries out the trial that the item is, whatever
// number the run gives to it.
func (i *item) Trial(ctx context.Context, _ int) (record.Trial, []record.Timing) {
	if i.budget == nil {
		return i.Driver.Trial(ctx, i.trial)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := &purse{all: i.budget, quote: i.Driver.Head().Price, stop: stop}
	trial, timings := i.Driver.Trial(drive.WithMeter(ctx, p), i.trial)
	if err := p.refused(); err != nil && i.cut == nil {
		i.cut = err
	}
	return trial, timings
}
