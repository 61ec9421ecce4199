package kind

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/work"
	react "github.com/rehearse-dev/rehearse/agents/react/kind"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

// supervision is one trial: a plan, the state that survives its processes, and the witness that
// checks its invariants.
type supervision struct {
	*supervised
	trial     *drive.Trial
	workspace *react.Workspace
	sink      event.Sink // of the supervisor
	crashes   *drive.CrashPlan
	restarts  int // of a run that ended
	witness   *witness
	probes    map[plan.Check]persist.Probe
	memory    *journal.Memory
	folder    string // of a journal on disk
}

func newSupervision(s *supervised, t *drive.Trial) *supervision {
	return &supervision{
		supervised: s, trial: t, sink: t.Sink, restarts: s.opts.Restarts, witness: newWitness(t.Sink),
		crashes: drive.NewCrashPlan(t.Sink, slices.Concat(planned(&s.opts), t.Perturb)),
	}
}

// run carries out the plan.
func (r *supervision) run(ctx context.Context) (end record.End) {
	var err error
	if r.workspace, err = r.opts.Open(r.trial); err != nil {
		return drive.Failed("set the stage", err)
	}
	if err := r.open(); err != nil {
		return drive.Failed("set the stage of the plan", err)
	}
	start := r.trial.Clock.Now()
	result, err := r.runProcesses(ctx)
	if err != nil {
		return drive.Failed("keep the state of the plan", err)
	}
	if err := r.workspace.RecordFiles(r.trial.Sink); err != nil {
		return drive.Failed("look at the stage", err)
	}
	r.witness.close(result)
	r.trial.Unfired(r.crashes.Unfired()...)
	end = record.End{
		Status:     string(result.Status),
		ExitCode:   result.ExitCode,
		Iterations: result.Counts.Attempts,
		Duration:   r.trial.Clock.Now().Sub(start),
		Text:       result.Answer,
		Details:    result.Details,
	}
	end.Writes, _ = r.crashes.Count()
	if len(r.trial.Perturb) > 0 && result.Status != persist.StatusComplete {
		if err := r.resume(context.WithoutCancel(ctx)); err != nil { // also after Ctrl-C
			return drive.Failed("take the plan up again", err)
		}
	}
	return end
}

// open creates the state that survives the processes.
func (r *supervision) open() error {
	files, err := r.opts.AgentFiles()
	if err != nil {
		return err
	}
	for name, text := range files { // where the workers of the plan read them
		if err := os.WriteFile(filepath.Join(r.workspace.Folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write an agent file: %w", err)
		}
	}
	// Programs run in real time, whatever the clock of the trial.
	if r.probes, err = work.Probes(r.plan, r.workspace.Folder, clock.Real()); err != nil {
		return err
	}
	for name, looks := range r.opts.Looks {
		r.probes[name] = r.scriptedProbe(name, looks)
	}
	if r.opts.Store != "file" {
		r.memory = journal.NewMemory()
		return nil
	}
	if r.folder, err = os.MkdirTemp("", "rehearse-state-"); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	r.trial.Cleanup(func() error { return os.RemoveAll(r.folder) })
	return nil
}

// resume resumes an incomplete plan without faults, to check that it can be completed. That is not
// part of the trial.
func (r *supervision) resume(ctx context.Context) error {
	next, err := r.trial.ResumeWithoutFaults(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = next.Release() }()
	r.trial, r.sink = next, event.Discard
	r.crashes, r.restarts = drive.NewCrashPlan(event.Discard, nil), 0
	r.witness.When = drive.AfterResume
	result, err := r.runProcesses(ctx)
	if err != nil {
		return err
	}
	r.witness.checkResult(result)
	r.witness.Emit(event.New(0, result.Details, record.Resumed{Status: string(result.Status)}))
	return nil
}

// maxIdle is the number of processes in a row that may crash before anything is stored.
const maxIdle = 20

// runProcesses runs the plan, again after each crash, and for each restart of the scenario.
func (r *supervision) runProcesses(ctx context.Context) (persist.Result, error) {
	for restarts, idle := 0, 0; ; {
		before := r.witness.records
		result, crashed, err := r.runProcess(ctx)
		if idle++; r.witness.records > before {
			idle = 0
		}
		switch {
		case err != nil:
			return result, err
		case idle > maxIdle:
			return result, fmt.Errorf("%d processes in a row crashed, or found the disk full, before anything was stored: "+
				"inject less often (every)", idle)
		case crashed:
		case r.crashes.DiskFull():
		case result.Status == persist.StatusComplete || result.Status == persist.StatusInterrupted || restarts == r.restarts:
			return result, nil
		default:
			restarts++
		}
	}
}

// runProcess runs one process.
func (r *supervision) runProcess(ctx context.Context) (result persist.Result, crashed bool, err error) {
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
	process := &crashStore{
		Store: r.witness.watch(store), sink: r.sink,
		Process: drive.Process{Plan: r.crashes, OnCrash: func() { cancel(drive.ErrCrashed) }},
	}
	shared := llm.NewBudget(r.plan.Limits.Budget, r.trial.Price, r.trial.EURPerUSD)
	workers, err := work.Build(r.plan, work.Deps{
		Backend: r.trial.Backend, BackendID: r.trial.BackendID,
		Conversational: r.trial.Conversational, Inert: r.opts.CannotAct,
		Clock: r.trial.Clock, Sink: process, Folder: r.workspace.Folder, Actions: r.workspace.Actions, Person: r.workspace.Person,
		Price: r.trial.Price, EURPerUSD: r.trial.EURPerUSD, Budget: shared,
	})
	if err != nil {
		return result, false, err
	}
	result = persist.Run(ctx, r.plan, persist.Deps{
		Store: process, Workers: r.witness.workers(workers), Probes: r.probes,
		Clock: r.trial.Clock, Sink: process, Budget: shared,
	})
	return result, process.Crashed(), nil
}

// store opens the state of the last process, or an empty one.
func (r *supervision) store() (journal.Store, error) {
	if r.memory != nil {
		r.memory = r.memory.Reopen()
		return r.memory, nil
	}
	// A simulated crash does not lose what was written, so there is no need to wait for the
	// disk each time.
	return journal.Open(r.folder, 64)
}

// scriptedProbe returns a probe that answers with the next of the looks, and with the last
// one from then on. A look whose result was not stored is repeated.
func (r *supervision) scriptedProbe(name plan.Check, looks []Look) persist.Probe {
	return func(ctx context.Context) plan.CheckResult {
		look := looks[min(r.witness.checks[name], len(looks)-1)]
		if err := r.trial.Clock.Sleep(ctx, look.Takes.Std()); err != nil {
			return plan.CheckResult{Verdict: plan.Unknown, Details: "interrupted: " + err.Error()}
		}
		return plan.CheckResult{Verdict: look.Verdict, Details: look.Details, Items: look.Items}
	}
}
