// Package cli runs a plan for a person at a terminal: it stores the state in a folder and shows the
// progress and the status of the plan. It also proposes a first plan for a project.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/work"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/redact"
)

// Job is a plan with its folders.
type Job struct {
	Plan   plan.Plan
	File   string
	Folder string // the folder of the plan, absolute, in which agents and commands work
	State  string
	beside bool // the state is in the default folder
	seen   processes
	clock  clock.Clock
}

// hiddenFolder is the folder beside the plan for files that are not part of the project.
const hiddenFolder = ".rehearse"

// NewJob returns the job of a plan that was read from file. The default for the state is a folder
// beside the file.
func NewJob(p plan.Plan, file, state string) (*Job, error) {
	beside := filepath.Dir(file)
	folder, err := filepath.Abs(beside)
	if err != nil {
		return nil, fmt.Errorf("find the folder of %s: %w", file, err)
	}
	return &Job{
		Plan: p, File: file, Folder: folder, beside: state == "", clock: clock.Real(),
		State: cmp.Or(state, filepath.Join(beside, hiddenFolder, "state", p.Name)),
	}, nil
}

// Models returns the names of the workers that need a backend. The default worker is one of them
// even if no task names it, since it does the tasks derived from checks.
func (j *Job) Models() []string {
	var models []string
	for _, name := range append(slices.Sorted(maps.Keys(j.Plan.Workers)), plan.DefaultWorker) {
		if w, ok := j.Plan.Worker(name); ok && len(w.Command) == 0 && !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	return models
}

// Options configure the run of a plan.
type Options struct {
	Backend        llm.Adapter  // nil if all workers are commands
	Conversational bool         // of Backend
	TakesTools     bool         // Backend passes tools to its model
	Inert          bool         // Backend cannot change anything
	Person         react.Person // also answers escalated tasks, at once
	Price          func(model string, u llm.Usage) (quantity.Money, bool)
	EURPerUSD      float64
	Redactor       *redact.Redactor
	// Fresh begins again and moves an earlier state to another folder.
	Fresh bool
	// Git records a checkpoint of the folder's files after each task that is done, in its git
	// repository; Rollback restores them after a failed attempt.
	Git, Rollback bool
	// FreshSessions lets the agent begin a new session in each attempt.
	FreshSessions bool
	// Parallel is the number of tasks that are attempted at the same time, each in a work tree of its own,
	// which needs a git repository and includes Git; at most 1: in the plan's folder.
	Parallel int
	// In returns Backend and Wrapper for another folder. It is required for Parallel; backend may be nil.
	In func(folder string) (backend llm.Adapter, wrapper []string, err error)
	// Wrapper precedes the command lines of workers, checks and acceptance commands, such as that of a
	// sandbox.
	Wrapper []string
	// Quiet omits the warning that a run cannot be verified.
	Quiet bool
	// Notify is a shell command line that is run when a task needs a person or is blocked, and at the end.
	Notify string
	// Notes receives the name of the folder of an earlier state, and warnings with Quiet.
	Notes io.Writer
}

// Run runs the plan from its stored state. If it returns an error, it has done nothing.
func (j *Job) Run(ctx context.Context, o Options, on *console.View) (result persist.Result, err error) {
	v := newView(on, j.clock.Now)
	defer v.close()
	deps := j.workDeps(o, v)
	safe := redacting{redact: o.Redactor, view: v, transcripts: &transcripts{
		state: j.State, redact: o.Redactor, now: j.clock.Now, warn: v.Print,
	}}
	build := func(p plan.Plan) (persist.Request, error) { return j.build(p, o, deps, safe) }
	made, err := build(j.Plan)
	if err != nil {
		return result, err
	}
	if !o.Fresh {
		if err := j.takeRequests(v); err != nil {
			return result, err
		}
	}
	before, err := j.before(o.Fresh)
	if err != nil {
		return result, err
	}
	store, err := j.openState(o.Fresh, o.Notes)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	files, err := j.keepFiles(ctx, o)
	if err != nil {
		return result, err
	}
	defer files.close()
	v.begin(j, deps.BackendID, before)
	files.show(v)
	if deps.Inert && !o.Quiet && loopsUnprobed(j.Plan) {
		for _, line := range inertWarning(deps.BackendID) {
			v.Print(line)
		}
	}
	forks, err := j.openForks(files, o, func(task, folder string) (persist.Place, error) {
		return j.placeIn(task, folder, o, deps, safe)
	})
	if err != nil {
		return result, err
	}
	notes := j.notifier(o, v)
	result = persist.Run(ctx, j.Plan, persist.Deps{
		Requests: j.liveRequests(v, build),
		Store:    store, Workers: made.Workers, Probes: made.Probes, Accept: made.Accept,
		Clock: j.clock, Sink: notes.sink(v), Budget: deps.Budget, Checkpoint: files.checkpoint(), Ask: safe.ask(o.Person),
		FreshSessions: o.FreshSessions, Forks: forks, Parallel: o.Parallel,
		ReadFile: safe.readFile(work.ReadFile(j.Folder)),
	})
	if err := j.unbegunError(result.Err); err != nil {
		return result, err
	}
	result = j.withTranscripts(result)
	notes.end(ctx, result)
	return result, nil
}

// unbegunError returns the error of a run that did nothing, with a hint; nil for other errors.
func (j *Job) unbegunError(err error) error {
	if errors.Is(err, persist.ErrParallel) {
		return fmt.Errorf("%w; start it again with --parallel, which merges it", err)
	}
	if changed, ok := errors.AsType[*persist.PlanChanged](err); ok {
		return j.explainChange(changed)
	}
	return nil
}

// workDeps returns the dependencies of the workers in the plan's folder.
func (j *Job) workDeps(o Options, v *view) work.Deps {
	deps := work.Deps{
		Clock: j.clock, Sink: v, Folder: j.Folder,
		Price: o.Price, EURPerUSD: o.EURPerUSD, Budget: llm.NewBudget(j.Plan.Limits.Budget, o.Price, o.EURPerUSD),
		Currency: j.Plan.Limits.Budget.Cost.Currency, Wrapper: o.Wrapper,
	}
	if o.Backend != nil {
		deps.TakesTools = o.TakesTools
		deps.Backend, deps.BackendID, deps.Conversational, deps.Inert = o.Backend, o.Backend.ID(), o.Conversational, o.Inert
	}
	if o.Person != nil {
		deps.Person = &onePerson{Person: o.Person}
	}
	return deps
}

// build returns a plan with its workers, probes and acceptance commands, in the plan's folder.
func (j *Job) build(p plan.Plan, o Options, deps work.Deps, safe redacting) (q persist.Request, err error) {
	workers, err := work.Build(p, deps)
	if err != nil {
		return q, err
	}
	probes, err := work.Probes(p, j.Folder, j.clock, o.Wrapper...)
	return persist.Request{
		Plan: p, Workers: safe.workers(workers), Probes: safe.probes(probes),
		Accept: safe.acceptance(work.Acceptance(p, j.Folder, j.clock, o.Wrapper...)),
	}, err
}

func (j *Job) notifier(o Options, v *view) *notifier {
	return &notifier{
		command: o.Notify, folder: j.Folder, plan: j.Plan.Name, redact: o.Redactor, warn: func(line string) {
			if v.Print(line); o.Quiet {
				fmt.Fprintln(o.Notes, line)
			}
		},
	}
}

// placeIn returns the workers and acceptance commands of a task in another folder.
func (j *Job) placeIn(task, folder string, o Options, deps work.Deps, safe redacting) (place persist.Place, err error) {
	backend, wrapper, err := o.In(folder)
	if err != nil {
		return place, err
	}
	deps.Folder, deps.Wrapper = folder, wrapper
	if backend != nil {
		deps.Backend = backend
	}
	workers, err := work.Build(j.Plan, deps)
	if err != nil {
		return place, err
	}
	return persist.Place{
		Workers: safe.workers(workers), ReadFile: safe.readFile(work.ReadFile(folder)),
		Accept: safe.acceptance(work.Acceptance(j.Plan, folder, j.clock, wrapper...))[task],
	}, nil
}

// before returns the status of the plan before it is run.
func (j *Job) before(fresh bool) (persist.Result, error) {
	if fresh {
		return j.unbegun()
	}
	result, _, err := j.Status()
	return result, err
}

// loopsUnprobed reports whether a runner loop works on the plan and no probe checks its work.
func loopsUnprobed(p plan.Plan) bool {
	for _, probe := range p.Checks {
		if len(probe.Command) > 0 || probe.File != "" {
			return false
		}
	}
	return slices.ContainsFunc(p.Tasks, func(t plan.Task) bool {
		w, ok := p.Worker(t.Worker())
		return ok && w.Loop != nil
	})
}

// inertWarning returns the lines of the warning that a run cannot be verified.
func inertWarning(backend string) []string {
	return []string{
		"warning: the backend " + backend + " can only answer here and change nothing, and no",
		"         check looks at what is made: this run cannot end complete. Take an",
		"         agent with tools, or give the plan a check with a command.",
	}
}
