package drive

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// ResumeWithoutFaults returns a trial that continues t at the same script position and the
// same time, without faults. It is not recorded, so resuming an agent after a perturbed run
// does not change the measures of that run. The caller releases it.
func (t *Trial) ResumeWithoutFaults(ctx context.Context) (*Trial, error) {
	next := &Trial{
		Clock: t.Clock, Env: t.Env, Price: t.Price, EURPerUSD: t.EURPerUSD, script: t.script, random: t.random,
	}
	if now, ok := t.Clock.(*clock.Virtual); ok {
		later := clock.NewVirtual()
		if err := later.Sleep(ctx, now.Elapsed()); err != nil {
			return nil, fmt.Errorf("set the clock: %w", err)
		}
		next.Clock = later
	}
	if t.engine != nil {
		next.engine = t.engine.WithoutInjections(next.Clock)
	}
	next.collector = record.NewCollector(record.CollectorOptions{Clock: next.Clock}) // never read
	next.Sink = next.collector
	if err := next.connectBackend(ctx); err != nil {
		_ = next.Release()
		return nil, err
	}
	return next, nil
}

// Violations is a sink that also receives violated invariants of an agent, as observed by
// its driver.
type Violations struct {
	event.Sink
	// When is the prefix of each text, such as AfterResume.
	When string
}

// Report reports a violation.
func (v Violations) Report(format string, args ...any) {
	v.Emit(event.New(0, v.When+fmt.Sprintf(format, args...), record.Violation{}))
}

// AfterResume is the prefix of violations in a resumed run.
const AfterResume = "after it was taken up again: "
