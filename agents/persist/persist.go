package persist

import (
	"context"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// Deps are what a run is given. Store and Workers are required.
type Deps struct {
	// Store keeps the state; the run does not close it.
	Store journal.Store
	// Workers do the tasks, by the names that the plan uses; "default" is required.
	Workers map[string]Worker
	// Probes answer the checks that the plan gives probes for.
	Probes map[check.Name]check.Probe
	// Clock is the run's time; default: the machine's.
	Clock clock.Clock
	// Sink receives what happens; default: nobody.
	Sink event.Sink
	// Judge judges an answer; default: stop.Judge under the balanced policy.
	Judge func(ctx context.Context, answer string) stop.Verdict
	// Budget is what the workers' calls are counted in, new in this process: what
	// earlier ones spent is added to it, and the run ends when a cap trips. Without
	// one, only what Outcome.Capped says ends it.
	Budget *llm.Budget
}

// Run carries the plan out, from where the store says that it stands, and keeps
// its state there. It never panics: a panic of a worker is a failed attempt, one
// of a probe leaves its check unknown, and another one ends the run with
// StatusError.
//
// A run that ended can be started again on its state. One that was complete does
// nothing and returns the same; any other goes on, with rounds and retries anew.
//
// When ctx ends, the run ends with StatusInterrupted, or with StatusBudget if its cause is
// context.DeadlineExceeded. The attempt that is under way is made again by the next Run, with
// the same Key.
func Run(ctx context.Context, p plan.Plan, d Deps) (result Result) {
	r := newSupervisor(p, d)
	defer func() {
		if v := recover(); v != nil {
			r.Sink = event.Discard // it may be what failed
			result = r.finish(ended(run.Panicked(v)))
		}
	}()
	defer r.close()
	return r.finish(r.run(ctx))
}
