package drive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/agents/persist/check/probe"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/work"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// superviseDriver carries a plan out by agents/persist, through crashes and
// restarts.
type superviseDriver struct {
	base
	drive scenarios.SuperviseDrive
	plan  plan.Plan
}

func newSuperviseDriver(sc scenarios.Scenario, env *Env) (*superviseDriver, error) {
	d := &superviseDriver{drive: *sc.Drive.Supervise}
	d.plan = d.drive.Whole()
	var err error
	if d.base, err = newBase(sc, "supervise", env); err != nil {
		return nil, err
	}
	d.head.Limits, err = describe(struct {
		Tasks  int         `json:"tasks"`
		Limits plan.Limits `json:"limits"`
	}{len(d.plan.Tasks), d.plan.Limits.WithDefaults()})
	return d, err
}

// Points implements Driver: every append, checkpoint and blob is a write.
func (d *superviseDriver) Points() Points {
	p := d.base.Points()
	p.NoWrites = ""
	limits := d.plan.Limits.WithDefaults()
	all := map[string]quantity.Duration{
		"limits.timeout": limits.Timeout, "limits.stagnation": limits.Stagnation, "limits.no_progress": limits.NoProgress,
	}
	retries, known := 0, map[quantity.Duration]bool{}
	for _, t := range d.plan.Tasks {
		retries = max(retries, t.MaxRetries())
		if !known[t.Timeout] { // copies of a task share theirs
			known[t.Timeout] = true
			all["tasks."+t.ID+".timeout"] = t.Timeout
		}
	}
	for name, w := range d.plan.Workers {
		if w.Loop == nil {
			continue
		}
		for key, given := range map[string]*quantity.Duration{"timeout": w.Loop.Timeout, "call_timeout": w.Loop.CallTimeout} {
			if given != nil {
				all["workers."+name+"."+key] = *given
			}
		}
	}
	p.Timeouts = timeouts(all)
	p.Attempts *= 1 + retries
	return p
}

// Perturbed implements Driver.
func (d *superviseDriver) Perturbed(ps []perturb.Perturbation) (Driver, error) {
	return d.depart(d, ps, func(b base) Driver {
		other := *d
		other.base = b
		return &other
	})
}

func (d *superviseDriver) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	return d.trial(ctx, n, d.drive.InterruptAfter, d.run)
}

func (d *superviseDriver) run(ctx context.Context, t *trial, backend llm.Adapter) record.End {
	s, err := newStage(&d.drive.Stage, t)
	if err != nil {
		return harnessError("set the stage", err)
	}
	r := &supervision{
		superviseDriver: d, trial: t, stage: s, backend: backend,
		fate: newFate(t.collector, slices.Concat(planned(&d.drive), d.perturb)), witness: newWitness(t.collector),
		tells: t.collector, restarts: d.drive.Restarts,
	}
	if err := r.open(); err != nil {
		return harnessError("set the stage of the plan", err)
	}
	start := t.clock.Now()
	result, err := r.lives(ctx)
	if err != nil {
		return harnessError("keep the state of the plan", err)
	}
	if err := s.left(t.collector); err != nil {
		return harnessError("look at the stage", err)
	}
	r.witness.close(result)
	t.unfired = r.fate.unfired()
	end := record.End{
		Status:     string(result.Status),
		ExitCode:   result.ExitCode,
		Iterations: result.Counts.Attempts,
		Duration:   t.clock.Now().Sub(start),
		Text:       result.Answer,
		Details:    result.Details,
	}
	end.Writes, _ = r.fate.count()
	if len(d.perturb) > 0 && result.Status != persist.StatusComplete {
		if err := r.again(context.WithoutCancel(ctx)); err != nil { // also after Ctrl-C
			return harnessError("take the plan up again", err)
		}
	}
	return end
}

// supervision is one trial: a plan, what survives its processes, and who watches.
type supervision struct {
	*superviseDriver
	trial    *trial
	stage    *stage
	backend  llm.Adapter
	tells    event.Sink // what the supervisor says
	fate     *fate
	restarts int // of a run that ended
	witness  *witness
	probes   map[check.Name]check.Probe
	memory   *journal.Memory
	folder   string // of a journal on disk
}

// open makes what survives the processes.
func (r *supervision) open() error {
	files, err := stageFiles(&r.drive.Stage)
	if err != nil {
		return err
	}
	for name, text := range files { // where the plan's workers look for them
		if err := os.WriteFile(filepath.Join(r.stage.folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write an agent file: %w", err)
		}
	}
	// Programs live in real time, whatever the trial's clock.
	if r.probes, err = probe.Build(r.plan, r.stage.folder, clock.Real()); err != nil {
		return err
	}
	for name, looks := range r.drive.Looks {
		r.probes[name] = scripted{looks: looks, clock: r.trial.clock, seen: func() int { return r.witness.checks[name] }}
	}
	if r.drive.Store != "file" {
		r.memory = journal.NewMemory()
		return nil
	}
	if r.folder, err = os.MkdirTemp("", "rehearse-state-"); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	r.trial.closers = append(r.trial.closers, func() error { return os.RemoveAll(r.folder) })
	return nil
}

// again takes up a plan that was not completed, as somebody does who has mended what
// was wrong. What it takes is no part of the trial.
func (r *supervision) again(ctx context.Context) error {
	calm, backend, err := r.trial.calm(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = calm.release() }()
	r.trial, r.backend, r.tells = calm, backend, event.Discard
	r.fate, r.restarts = newFate(event.Discard, nil), 0
	r.witness.when = afterwards
	result, err := r.lives(ctx)
	if err != nil {
		return err
	}
	r.witness.hold(result)
	r.witness.Tell(resumed(string(result.Status), result.Details))
	return nil
}

// maxIdle is how many processes in a row may die before anything is stored.
const maxIdle = 20

// lives runs the plan, again after each crash and as often as the scenario says.
func (r *supervision) lives(ctx context.Context) (persist.Result, error) {
	for restarts, idle := 0, 0; ; {
		before := r.witness.records
		result, died, err := r.live(ctx)
		if idle++; r.witness.records > before {
			idle = 0
		}
		switch {
		case err != nil:
			return result, err
		case idle > maxIdle:
			return result, fmt.Errorf("%d processes in a row died, or found the disk full, before anything was stored: let it happen more seldom (every)", idle)
		case died:
		case r.fate.full():
		case result.Status == persist.StatusComplete || result.Status == persist.StatusInterrupted || restarts == r.restarts:
			return result, nil
		default:
			restarts++
		}
	}
}

// live is one process.
func (r *supervision) live(ctx context.Context) (result persist.Result, died bool, err error) {
	store, err := r.store()
	if err != nil {
		return result, false, err
	}
	defer func() {
		if closing := store.Close(); err == nil {
			err = closing
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	mortal := &mortal{Store: r.witness.watch(store), sink: r.tells, life: life{fate: r.fate, end: func() { cancel(errDead) }}}
	shared := budget.New(r.plan.Limits.Budget, r.pricer, r.rate)
	workers, err := work.Build(r.plan, work.Deps{
		Backend: r.trial.collector.Wrap(r.backend), BackendID: r.backend.ID(),
		Conversational: !r.scenario.Backend.Process(), Inert: r.drive.CannotAct,
		Clock: r.trial.clock, Sink: mortal, Folder: r.stage.folder, Actions: r.stage.actions, Person: r.stage.person,
		Price: r.pricer, EURPerUSD: r.rate, Budget: shared,
	})
	if err != nil {
		return result, false, err
	}
	result = persist.Run(ctx, r.plan, persist.Deps{
		Store: mortal, Workers: r.witness.workers(workers), Probes: r.probes,
		Clock: r.trial.clock, Sink: mortal, Budget: shared,
	})
	return result, mortal.died(), nil
}

// store opens what a process that died left, or nothing at first.
func (r *supervision) store() (journal.Store, error) {
	if r.memory != nil {
		r.memory = r.memory.Reopen()
		return r.memory, nil
	}
	// The machine does not die with a process of the trial, so that what was written
	// is there again without waiting for the disk each time.
	return journal.Open(r.folder, journal.Options{Sync: journal.SyncGroup})
}

// scripted is a probe that finds what the scenario says, look for look. A look that
// nobody has stored is found again.
type scripted struct {
	looks []scenarios.Look
	clock clock.Clock
	seen  func() int // how many looks are stored
}

// Probe implements check.Probe.
func (s scripted) Probe(ctx context.Context) check.Result {
	look := s.looks[min(s.seen(), len(s.looks)-1)]
	if err := s.clock.Sleep(ctx, look.Takes.Std()); err != nil {
		return check.Result{Verdict: check.Unknown, Details: "interrupted: " + err.Error()}
	}
	return check.Result{Verdict: look.Verdict, Details: look.Details, Items: look.Items}
}
