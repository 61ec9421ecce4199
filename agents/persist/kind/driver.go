package kind

import (
	"context"
	"errors"
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

// supervision is one trial of a plan. Its state survives crashes of the process.
type supervision struct {
	*supervised
	plan      plan.Plan // with its amendment
	amended   bool
	trial     *drive.Trial
	workspace *react.Workspace
	sink      event.Sink // of the supervisor
	crashes   *drive.CrashPlan
	restarts  int // of ended runs
	verifier  *verifier
	probes    map[plan.Check]persist.Probe
	accept    map[string][]persist.Probe
	memory    *journal.Memory
	folder    string // of a journal on disk
}

func newSupervision(s *supervised, t *drive.Trial) *supervision {
	return &supervision{
		supervised: s, plan: s.plan, trial: t, sink: t.Sink, restarts: s.opts.Restarts, verifier: newVerifier(t.Sink),
		crashes: drive.NewCrashPlan(t.Sink, slices.Concat(planned(&s.opts), t.Perturb)),
	}
}

func (r *supervision) run(ctx context.Context) (end record.End) {
	var err error
	if r.workspace, err = r.opts.Open(r.trial); err != nil {
		return drive.Failed("create the workspace", err)
	}
	if err := r.open(); err != nil {
		return drive.Failed("prepare the plan", err)
	}
	start := r.trial.Clock.Now()
	result, err := r.runProcesses(ctx)
	if err != nil {
		return drive.Failed("run the plan", err)
	}
	if err := r.workspace.RecordFiles(r.trial.Sink); err != nil {
		return drive.Failed("list the files of the workspace", err)
	}
	r.verifier.close(result)
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
			return drive.Failed("resume the plan", err)
		}
	}
	return end
}

// open prepares the probes and the state.
func (r *supervision) open() error {
	files, err := r.opts.AgentFiles()
	if err != nil {
		return err
	}
	for name, text := range files { // the workers read them there
		if err := os.WriteFile(filepath.Join(r.workspace.Folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write an agent file: %w", err)
		}
	}
	if err := r.prepareProbes(); err != nil {
		return err
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

// prepareProbes makes the probes and acceptance commands of the plan. Commands run in real time, whatever
// the clock of the trial.
func (r *supervision) prepareProbes() (err error) {
	if r.probes, err = work.Probes(r.plan, r.workspace.Folder, clock.Real()); err != nil {
		return err
	}
	for name, looks := range r.opts.Looks {
		r.probes[name] = r.scriptedProbe(looks, func() int { return r.verifier.checks[name] })
	}
	r.accept = work.Acceptance(r.plan, r.workspace.Folder, clock.Real())
	for id, looks := range r.opts.Accept {
		r.accept[id] = []persist.Probe{r.scriptedProbe(looks, func() int { return r.verifier.accepted[id] })}
	}
	return nil
}

// resume resumes an incomplete plan without faults to check that it can be completed. This is not part
// of the trial.
func (r *supervision) resume(ctx context.Context) error {
	next, err := r.trial.ResumeWithoutFaults(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = next.Release() }()
	r.trial, r.sink = next, event.Discard
	r.crashes, r.restarts = drive.NewCrashPlan(event.Discard, nil), 0
	r.verifier.When = drive.AfterResume
	result, err := r.runProcesses(ctx)
	if err != nil {
		return err
	}
	r.verifier.checkResult(result)
	r.verifier.Emit(event.New(0, result.Details, record.Resumed{Status: string(result.Status)}))
	return nil
}

// maxIdle is the largest number of processes in a row that crash before they store a record.
const maxIdle = 20

// runProcesses runs the plan again after each crash and for each restart of the scenario.
func (r *supervision) runProcesses(ctx context.Context) (persist.Result, error) {
	for restarts, idle := 0, 0; ; {
		before := r.verifier.records
		result, crashed, err := r.runProcess(ctx)
		if idle++; r.verifier.records > before {
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
			if err := r.recordAnswers(result); err != nil {
				return result, err
			}
			if err := r.amend(); err != nil {
				return result, err
			}
		}
	}
}

// recordAnswers records the answers of the scenario to the tasks that are escalated.
func (r *supervision) recordAnswers(result persist.Result) error {
	for _, t := range result.Tasks {
		text, ok := r.opts.Answers[t.ID]
		if !ok || t.State != string(persist.Escalated) {
			continue
		}
		store, err := r.store()
		if err == nil {
			err = persist.Answer(r.plan, r.verifier.wrapStore(store), t.ID, text)
			err = errors.Join(err, store.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// amend records the amended plan of the scenario, once.
func (r *supervision) amend() error {
	if r.opts.Amended == nil || r.amended {
		return nil
	}
	r.amended, r.plan = true, *r.opts.Amended
	store, err := r.store()
	if err != nil {
		return err
	}
	a, err := persist.PrepareAmendment(r.plan, r.verifier.wrapStore(store))
	if err == nil {
		err = a.Record()
	}
	return errors.Join(err, store.Close(), r.prepareProbes())
}

// ask asks the person of the workspace about an escalated task, if the scenario has answers of one.
func (r *supervision) ask() func(context.Context, string, string) (string, bool) {
	if len(r.opts.Person) == 0 {
		return nil
	}
	return func(ctx context.Context, task, question string) (string, bool) {
		return r.workspace.Person.Ask(ctx, question, task)
	}
}

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
		Store: r.verifier.wrapStore(store), sink: r.sink,
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
	var read func(string, int) ([]byte, int64, error)
	if r.opts.Contents {
		read = work.ReadFile(r.workspace.Folder)
	}
	result = persist.Run(ctx, r.plan, persist.Deps{
		ReadFile: read,
		Store:    process, Workers: r.verifier.wrapWorkers(workers), Probes: r.probes, Accept: r.accept, Ask: r.ask(),
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
	// A simulated crash does not lose written data, so it does not have to be synced each time.
	return journal.Open(r.folder, 64)
}

// scriptedProbe returns a probe that returns one look after the other and then repeats the last one.
// A look whose result was not stored is repeated, too: stored returns the number of stored results.
func (r *supervision) scriptedProbe(looks []Look, stored func() int) persist.Probe {
	return func(ctx context.Context) plan.CheckResult {
		look := looks[min(stored(), len(looks)-1)]
		if err := r.trial.Clock.Sleep(ctx, look.Takes.Std()); err != nil {
			return plan.CheckResult{Verdict: plan.Unknown, Details: "interrupted: " + err.Error()}
		}
		return plan.CheckResult{Verdict: look.Verdict, Details: look.Details, Items: look.Items}
	}
}
