package persist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// supervisor is one process's part of a run. Its state is changed under mu only: timers
// and meters change it while a worker works. No lock is held while a worker, a
// probe or a judge is at work.
type supervisor struct {
	Deps
	plan   plan.Plan
	limits plan.Limits
	outer  context.Context // ends with the user's interrupt
	ctx    context.Context // ends when the time is up, too, or the state cannot be kept
	cancel context.CancelCauseFunc
	stops  []func()

	mu      sync.Mutex
	state   *state.State
	pending [][]byte       // records that are applied and not written
	unkept  []state.Record // the same
	// kept is the state without them: what a later run finds, and all that may be
	// told of if they cannot be written.
	kept    *state.State
	saved   saved
	entries map[string]bool // files of the context that are saved; nil if not known
	resumed int             // how often the run was resumed

	start   time.Time     // of this process
	base    time.Duration // of the run, then
	broken  error         // why the state cannot be kept
	closed  bool          // no timer does anything any more
	attempt *attempt      // the one under way
	waited  int           // the number of the attempt that was waited after last
}

// ending is why a run ends; nil means that it goes on.
type ending struct {
	run.Ending
	kept bool // the journal has it already
}

func newSupervisor(p plan.Plan, d Deps) *supervisor {
	if d.Clock == nil {
		d.Clock = clock.Real()
	}
	if d.Sink == nil {
		d.Sink = event.Discard
	}
	if d.Judge == nil {
		d.Judge = func(_ context.Context, answer string) stop.Verdict { return stop.Judge(answer, stop.Options{}) }
	}
	return &supervisor{Deps: d, plan: p, limits: p.Limits.WithDefaults(), start: d.Clock.Now()}
}

// run goes from the state that was kept to an end.
func (r *supervisor) run(ctx context.Context) *ending {
	r.outer, r.ctx = ctx, ctx
	if err := r.validate(); err != nil {
		return failure("the run cannot begin", err)
	}
	if end := r.load(); end != nil {
		return end
	}
	r.bound(ctx)
	r.keepAlive()
	for {
		if end := r.over(); end != nil {
			return end
		}
		if end := r.pass(); end != nil {
			return end
		}
	}
}

// validate returns what is missing or wrong before anything is done.
func (r *supervisor) validate() error {
	if r.Store == nil {
		return errors.New("no store is given")
	}
	if problems := r.plan.Problems(); len(problems) > 0 {
		var texts []string
		for _, p := range problems {
			texts = append(texts, p.String())
		}
		return fmt.Errorf("the plan is not valid: %s", strings.Join(texts, "; "))
	}
	for _, t := range r.plan.Tasks {
		if r.Workers[t.Worker()] == nil {
			return fmt.Errorf("no worker %q is given, which the task %q needs", t.Worker(), t.ID)
		}
	}
	for name, probe := range r.plan.Checks {
		if by := cmp.Or(probe.By, plan.DefaultWorker); r.Workers[by] == nil {
			return fmt.Errorf("no worker %q is given, which the check %q needs", by, name)
		}
	}
	if r.Workers[plan.DefaultWorker] == nil {
		return fmt.Errorf("no worker %q is given, which tasks of failed checks need", plan.DefaultWorker)
	}
	return nil
}

// bound sets up the contexts: what is left of the run's time is over all its
// processes.
func (r *supervisor) bound(ctx context.Context) {
	if all := r.limits.Timeout.Std(); all > 0 {
		timed, cancel := r.Clock.WithTimeout(ctx, max(0, all-r.base-r.saved.Lost))
		r.stops = append(r.stops, cancel)
		ctx = timed
	}
	ctx, r.cancel = context.WithCancelCause(ctx)
	r.stops = append(r.stops, func() { r.cancel(context.Canceled) })
	r.ctx = ctx
}

// close stops the timers.
func (r *supervisor) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	for _, stop := range r.stops {
		stop()
	}
}

// now returns the time of the run: that which its records report, without what a killed
// process did after its last one.
func (r *supervisor) now() time.Duration { return r.base + r.Clock.Now().Sub(r.start) }

// pass makes the next move.
func (r *supervisor) pass() *ending {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.look(); err != nil {
		return r.keepFailure(err)
	}
	if err := r.emitSigns(); err != nil {
		return r.keepFailure(err)
	}
	switch move := r.state.Next(); move.Kind {
	case state.KindIntent:
		return r.try(move)
	case state.KindCheck:
		return r.check(move.Why)
	case state.KindDerive:
		return r.derive(move)
	case state.KindSegment:
		return r.segment()
	default:
		return &ending{recorded(move.End), r.state.End != nil}
	}
}

// over returns the ending that goes before all that could be done.
func (r *supervisor) over() *ending {
	r.mu.Lock()
	broken := r.broken
	r.mu.Unlock()
	if broken != nil {
		return r.keepFailure(broken)
	}
	limits := run.Run{
		Caller: run.Caller{Budgets: []*llm.Budget{r.Budget}},
		Outer:  r.outer, Context: r.ctx, Timeout: r.limits.Timeout,
	}
	end := ended(limits.Limits())
	if end != nil && end.Status == run.Timeout {
		end.Status = StatusBudget
	}
	return end
}

// ended returns an ending of any run as one that the journal does not have; nil stays nil.
func ended(end *run.Ending) *ending {
	if end == nil {
		return nil
	}
	return &ending{Ending: *end}
}

// recorded returns the ending that a record describes.
func recorded(end state.End) run.Ending {
	return run.Ending{Status: Status(end.Status), Guard: end.Guard, Details: end.Details}
}

// failure returns the ending by an error.
func failure(what string, err error) *ending {
	return ended(run.Failed(fmt.Errorf("%s: %w", what, err)))
}

// keepFailure returns the end when the state could not be kept. What was kept before is.
func (r *supervisor) keepFailure(err error) *ending {
	return failure("the state could not be kept; see to the disk and start again, which goes on from what was kept", err)
}
