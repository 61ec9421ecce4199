package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// Budget bounds a whole run; zero bounds nothing. Calls and cost are added up trial
// by trial in the order of the plan: the run ends before the trial that follows the
// one with which they were used up, whatever the number of workers, and a trial is
// never cut. So the sums can lie above the budget by what one trial took.
type Budget struct {
	// Calls counts calls to the backend, as the measure of that name.
	Calls int
	// Cost is money in its own currency. A trial of unknown cost uses it up.
	Cost quantity.Money
	// Time is how long the run may take on Clock; the trials that are under way then
	// are given up.
	Time  time.Duration
	Clock clock.Clock
}

// errStopped ends a run whose budget is used up.
var errStopped = errors.New("a budget of the run is used up")

// start returns a context that ends when the time is up.
func (b *Budget) start(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.Time <= 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := b.Clock.AfterFunc(b.Time, func() { cancel(errStopped) })
	return ctx, func() { stop(); cancel(nil) }
}

// spending is a sink that ends the run when the budget is used up.
type spending struct {
	Sink
	budget  Budget
	calls   int
	cost    float64
	unknown string // the first scenario of unknown cost
}

// Scenario implements Sink.
func (s *spending) Scenario(head record.Scenario) error {
	if s.usedUp() != "" {
		return errStopped
	}
	return s.Sink.Scenario(head)
}

// Trial implements Sink.
func (s *spending) Trial(j Judged) error {
	if s.usedUp() != "" {
		return errStopped
	}
	s.calls += j.Facts.Calls.Total
	if j.Facts.Calls.Total > 0 && !j.Facts.Cost.Known && s.unknown == "" {
		s.unknown = j.Scenario.Name
	}
	if s.budget.Cost.Currency == quantity.USD {
		s.cost += j.Facts.Cost.USD
	} else {
		s.cost += j.Facts.Cost.EUR
	}
	return s.Sink.Trial(j)
}

// usedUp says what of the budget is; empty if nothing is.
func (s *spending) usedUp() string {
	b := &s.budget
	switch {
	case b.Calls > 0 && s.calls >= b.Calls:
		return fmt.Sprintf("the budget of %s is used up: the run made %d", format.Plural(b.Calls, "call"), s.calls)
	case b.Cost.IsZero():
		return ""
	case s.unknown != "":
		return fmt.Sprintf("a budget of %s is given, and what %s costs is unknown", b.Cost, s.unknown)
	case s.cost >= b.Cost.Amount:
		return fmt.Sprintf("the budget of %s is used up: the run spent %.6g %s", b.Cost, s.cost, b.Cost.Currency)
	}
	return ""
}
