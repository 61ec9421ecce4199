package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// Budget limits a whole run; zero means no limit. Calls and cost are summed trial by trial in the
// order of the plan. The run ends after the trial that uses the budget up, whatever the number of
// workers. Trials are not cut off, so the sums can exceed the budget by the use of one trial.
type Budget struct {
	// Calls limits the calls to the backend.
	Calls int
	// Cost limits the cost. A trial of unknown cost uses it up.
	Cost quantity.Money
	// Time limits the run's time on Clock; running trials are then abandoned.
	Time  time.Duration
	Clock clock.Clock
}

// errStopped ends a run before its plan is done: a budget is used up, or enough scenarios failed.
var errStopped = errors.New("the run was stopped before its plan was done")

// start returns a context that ends when the time is up.
func (b *Budget) start(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.Time <= 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := b.Clock.AfterFunc(b.Time, func() { cancel(errStopped) })
	return ctx, func() { stop(); cancel(nil) }
}

// limiter is a sink that ends the run when its budget is used up, or when enough scenarios failed.
type limiter struct {
	Sink
	budget   Budget
	failFast int    // end after this number of failed scenarios; 0 means no limit
	stop     func() // abandons the trials that are running

	calls   int
	cost    float64
	unknown string              // the first scenario of unknown cost
	failed  map[string]struct{} // scenarios with a failed trial
}

// Scenario implements Sink.
func (s *limiter) Scenario(head record.Scenario) error {
	if s.over() {
		return errStopped
	}
	return s.Sink.Scenario(head)
}

// Trial implements Sink.
func (s *limiter) Trial(j Judged) error {
	if s.over() {
		return errStopped
	}
	calls, _, cost := j.Facts.Spent()
	s.calls += calls
	if calls > 0 && !cost.Known && s.unknown == "" {
		s.unknown = j.Scenario.Name
	}
	if s.budget.Cost.Currency == quantity.USD {
		s.cost += cost.USD
	} else {
		s.cost += cost.EUR
	}
	if j.Verdict == gate.Fail || j.Verdict == gate.Error {
		s.failed[j.Scenario.Name] = struct{}{}
	}
	if s.over() {
		s.stop()
	}
	return s.Sink.Trial(j)
}

// over reports whether the run must end.
func (s *limiter) over() bool { return s.failedEnough() || s.usedUp() != "" }

// failedEnough reports whether the run must end because of its failures.
func (s *limiter) failedEnough() bool { return s.failFast > 0 && len(s.failed) >= s.failFast }

// reason describes why the run ended before its plan was done.
func (s *limiter) reason() string {
	if s.failedEnough() {
		return format.Plural(len(s.failed), "scenario") + " failed, which ends the run (fail-fast)"
	}
	return s.usedUp()
}

// usedUp describes the part of the budget that is used up; empty if none is.
func (s *limiter) usedUp() string {
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
