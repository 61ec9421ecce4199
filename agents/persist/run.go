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

// supervisor is the part of a run in one process. Its state only changes under mu, because timers and
// meters change it during an attempt. The lock is released while a worker, a probe or the judge runs.
type supervisor struct {
	Deps
	plan   plan.Plan
	words  *phrases
	limits plan.Limits
	outer  context.Context // ends with an interrupt of the user
	ctx    context.Context // also ends when the time is up or the state cannot be saved
	cancel context.CancelCauseFunc
	stops  []func()

	mu             sync.Mutex
	state          *state.State
	pending        [][]byte       // records that are applied but not written
	pendingRecords []state.Record // the same
	// written is the state without the pending records. It is reported if they cannot be written.
	written *state.State
	saved   saved
	entries map[string]bool // saved files of the context; nil if unknown
	resumed int             // number of resumptions

	start   time.Time     // of this process
	base    time.Duration // time of the run at start
	broken  error         // why the state cannot be saved
	closed  bool          // timers are ignored
	attempt *attempt      // in progress
	waited  int           // number of attempts at the last wait
	// cutOff is the usage of an attempt without an outcome: the end of the run cut it off, or an earlier
	// process was killed in it.
	cutOff *Used
	forks  forks
	print  fingerprint // of the plan
}

// ending is the end of a run; nil if it continues.
type ending struct {
	run.Ending
	recorded bool // in the journal
}

func newSupervisor(p plan.Plan, d Deps) *supervisor {
	if d.Clock == nil {
		d.Clock = clock.Real()
	}
	if d.Sink == nil {
		d.Sink = event.Discard
	}
	if d.Judge == nil {
		d.Judge = func(_ context.Context, request, answer string) stop.Verdict {
			return stop.Judge(answer, stop.Options{Request: request})
		}
	}
	return &supervisor{Deps: d, plan: p, words: phrasesOf(p), limits: p.Limits.WithDefaults(), start: d.Clock.Now(), forks: newForks()}
}

// run continues from the stored state to an end.
func (r *supervisor) run(ctx context.Context) *ending {
	r.outer, r.ctx = ctx, ctx
	if err := r.validate(r.plan); err != nil {
		return failure("the run cannot begin", err)
	}
	if end := r.load(); end != nil {
		return end
	}
	r.limitTime(ctx)
	if end := r.prepareForks(); end != nil {
		return end
	}
	r.keepAlive()
	for {
		if end := r.endEarly(); end != nil {
			return end
		}
		if end := r.pass(); end != nil {
			return end
		}
	}
}

// validate checks a plan and the dependencies of its run.
func (d Deps) validate(p plan.Plan) error {
	if d.Store == nil {
		return errors.New("no store is given")
	}
	if problems := p.Problems(); len(problems) > 0 {
		var texts []string
		for _, p := range problems {
			texts = append(texts, p.String())
		}
		return fmt.Errorf("the plan is not valid: %s", strings.Join(texts, "; "))
	}
	for _, t := range p.Tasks {
		if d.Workers[t.Worker()] == nil {
			return fmt.Errorf("no worker %q is given, which the task %q needs", t.Worker(), t.ID)
		}
		if len(d.Accept[t.ID]) < len(t.Accept) {
			return fmt.Errorf("the acceptance commands of the task %q are not given", t.ID)
		}
	}
	for name, probe := range p.Checks {
		if by := cmp.Or(probe.By, plan.DefaultWorker); d.Workers[by] == nil {
			return fmt.Errorf("no worker %q is given, which the check %q needs", by, name)
		}
	}
	if d.Workers[plan.DefaultWorker] == nil {
		return fmt.Errorf("no worker %q is given, which tasks of failed checks need", plan.DefaultWorker)
	}
	return nil
}

// limitTime derives the contexts of the run. The time limit covers all processes.
func (r *supervisor) limitTime(ctx context.Context) {
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

// now returns the time of the run without the time of killed processes after their last record.
func (r *supervisor) now() time.Duration { return r.base + r.Clock.Now().Sub(r.start) }

// pass makes the next move.
func (r *supervisor) pass() *ending {
	r.mu.Lock()
	defer r.mu.Unlock()
	if end := r.takeRequests(); end != nil {
		return end
	}
	if err := r.optimiseContext(); err != nil {
		return r.saveFailure(err)
	}
	if err := r.emitSigns(); err != nil {
		return r.saveFailure(err)
	}
	if err := r.saveAfterSoftLimit(); err != nil {
		return r.saveFailure(err)
	}
	switch move := r.state.Next(); move.Kind {
	case state.KindIntent:
		return r.attemptNext(move)
	case state.KindOutcome:
		if end := r.acceptTask(move.Task); end != nil {
			return end
		}
		return r.forgetFork(move.Task)
	case state.KindCheck:
		return r.check(move.Why)
	case state.KindDerive:
		return r.beginRound(move)
	case state.KindSegment:
		return r.beginSegment()
	default:
		return &ending{endingOf(move.End), r.state.End != nil}
	}
}

// endEarly returns the ending after an interrupt, a limit or an error of the store, or nil.
func (r *supervisor) endEarly() *ending {
	r.mu.Lock()
	broken := r.broken
	r.mu.Unlock()
	if broken != nil {
		return r.saveFailure(broken)
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

// ended returns an ending that is not recorded; nil for nil.
func ended(end *run.Ending) *ending {
	if end == nil {
		return nil
	}
	return &ending{Ending: *end}
}

func endingOf(end state.End) run.Ending {
	return run.Ending{Status: Status(end.Status), Guard: end.Guard, Details: end.Details}
}

func failure(what string, err error) *ending {
	return ended(run.Failed(fmt.Errorf("%s: %w", what, err)))
}

// saveFailure returns the ending of a run whose state could not be saved.
func (r *supervisor) saveFailure(err error) *ending {
	return failure("the state could not be saved; check the disk and start again: the run continues from the last saved state", err)
}
