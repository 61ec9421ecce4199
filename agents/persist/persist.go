// Package persist carries a plan of tasks through to its end over any worker: it
// checks before it stops, goes on when it should, saves as it goes, survives a
// kill at any instant, and says honestly how it ended.
package persist

import (
	"context"

	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm/budget"
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
	// Sink is told of what happens; default: nobody.
	Sink event.Sink
	// Judge judges an answer; default: stop.Judge under the balanced policy.
	Judge func(ctx context.Context, answer string) stop.Verdict
	// Budget is what the workers' calls are counted in, where it is shared; the run asks it which
	// cap tripped.
	Budget *budget.Budget
}

// Run carries the plan out, from where the store says that it stands.
func Run(ctx context.Context, p plan.Plan, d Deps) Result {
	panic("not built yet")
}
