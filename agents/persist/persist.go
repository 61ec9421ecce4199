package persist

import (
	"context"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// Deps are the dependencies of a run. Store and Workers are required.
type Deps struct {
	// Store stores the state. The run does not close it.
	Store journal.Store
	// Workers execute the tasks, by their names in the plan; "default" is required.
	Workers map[string]Worker
	// Probes answer the checks for which the plan has probes.
	Probes map[plan.Check]Probe
	// Accept are the acceptance commands of tasks, by the ids of the tasks.
	Accept map[string][]Probe
	// Checkpoint, if set, is called when a task is done (and accepted), and when an attempt failed, with
	// the reason. It saves or restores the files that the workers change and returns the event to
	// emit, if its kind is not empty. It must complete even if ctx ends. An error ends the run.
	Checkpoint func(ctx context.Context, task string, attempt int, failure string) (event.Event, error)
	// Forks, if set, provides a folder for each task, so that up to Parallel attempts are made at the same
	// time; at least one. Then Checkpoint is only used for an attempt that was begun without Forks, and
	// Workers, Judge and Sink must be safe for concurrent use.
	Forks    Forks
	Parallel int
	// Requests, if set, returns the requests of other processes. It is called between tasks.
	Requests func() []Request
	// Ask, if set, asks a person the question of an escalated task at once. If ok is false, the task
	// waits for an answer, and the run continues with others.
	Ask func(ctx context.Context, task, question string) (answer string, ok bool)
	// ReadFile, if set, returns the first most bytes of a file of the plan's folder and the size of the
	// file, for prompts. It is not called for files outside of the folder. Without it, prompts only
	// name files.
	ReadFile func(name string, most int) (data []byte, size int64, err error)
	// FreshSessions lets each attempt begin a new session. By default, an attempt that continues the work
	// of another one continues the session of its agent, too.
	FreshSessions bool
	// Clock is the clock of the run; default: the real clock.
	Clock clock.Clock
	// Sink receives the events; default: none.
	Sink event.Sink
	// Judge judges the answer to a task, whose text is the request; default: stop.Judge with
	// the balanced policy.
	Judge func(ctx context.Context, request, answer string) stop.Verdict
	// Budget counts the calls of the workers in this process. The run adds the usage of earlier
	// processes to it, and ends when a cap is reached. Without a budget, only Outcome.Capped
	// ends the run.
	Budget *llm.Budget
}

// Run executes the plan from the state in the store, and saves its progress there. It never panics: a
// panic of a worker fails the attempt, after a panic of a probe its check is unknown, and any other
// panic ends the run with StatusError.
//
// A run that ended can be started again. If it was complete, Run does nothing and returns the same
// result; otherwise it continues with new rounds and retries.
//
// When ctx ends, the run ends with StatusInterrupted, or with StatusBudget if the cause is
// context.DeadlineExceeded. The next Run repeats the interrupted attempt with the same Key.
func Run(ctx context.Context, p plan.Plan, d Deps) (result Result) {
	r := newSupervisor(p, d)
	defer func() {
		if v := recover(); v != nil {
			r.mu.Lock()
			r.Sink = event.Discard // the sink may have panicked
			r.mu.Unlock()
			result = r.finish(ended(run.Panicked(v)))
		}
	}()
	defer r.close()
	return r.finish(r.run(ctx))
}
