package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/check/probe"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/work"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
)

// site is where a plan is carried out.
type site struct {
	plan   plan.Plan
	file   string
	folder string // of the plan, absolute; its agents and commands work there
	state  string
	own    bool // the state is where it is by default
}

// hiddenFolder keeps what is no part of a project, beside the plan.
const hiddenFolder = ".rehearse"

func siteOf(p plan.Plan, file, state string) (site, error) {
	beside := filepath.Dir(file)
	folder, err := filepath.Abs(beside)
	if err != nil {
		return site{}, usage(fmt.Errorf("find the folder of %s: %w", file, err))
	}
	return site{
		plan: p, file: file, folder: folder, own: state == "",
		state: cmp.Or(state, filepath.Join(beside, hiddenFolder, "state", p.Name)),
	}, nil
}

// superviseBackend is the backend of the plan's workers; nil if all are commands.
// The default worker does what is derived from checks, so it counts whether or not
// a task names it.
func (a *app) superviseBackend(ctx context.Context, p plan.Plan, flags *superviseFlags) (llm.Adapter, error) {
	var models []string
	for _, name := range append(slices.Sorted(maps.Keys(p.Workers)), plan.DefaultWorker) {
		if w, ok := p.Worker(name); ok && len(w.Command) == 0 && !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	if len(models) == 0 {
		return nil, nil
	}
	backend, err := a.agentBackend(ctx, &flags.agentFlags)
	if err != nil {
		return nil, usage(fmt.Errorf("%w (it is for the plan's workers that are no command: %s)", err, strings.Join(models, ", ")))
	}
	return backend, nil
}

// carryOut runs the plan.
func (a *app) carryOut(ctx context.Context, s site, flags *superviseFlags) (result persist.Result, err error) {
	flags.dir = s.folder
	backend, err := a.superviseBackend(ctx, s.plan, flags)
	if err != nil {
		return result, err
	}
	prices, err := priceTable(flags.prices)
	if err != nil {
		return result, usage(err)
	}
	pricer := prices.Pricer(flags.model)
	view := a.newSuperviseView(flags.quiet)
	defer view.close()
	spent := budget.New(s.plan.Limits.Budget, pricer, prices.EURPerUSD)
	deps := work.Deps{
		Clock: clock.Real(), Sink: view, Person: a.person(view.liveView, ""), Folder: s.folder,
		Price: pricer, EURPerUSD: prices.EURPerUSD, Budget: spent,
	}
	if backend != nil {
		deps.Backend, deps.BackendID, deps.Conversational = backend, backend.ID(), backend.ID() == openAI
		deps.Inert = flags.script == "" && !flags.actsOnFiles()
	}
	workers, err := work.Build(s.plan, deps)
	if err != nil {
		return result, usage(err)
	}
	probes, err := probe.Build(s.plan, s.folder, clock.Real())
	if err != nil {
		return result, usage(err)
	}
	var standing persist.Result
	if standing, err = standingOf(s, flags.fresh); err != nil {
		return result, err
	}
	store, err := a.openState(s, flags.fresh)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	safe := discreet{redact: redactor(), view: view}
	view.begin(s, backend, standing)
	if deps.Inert && !flags.quiet && loopsUnprobed(s.plan) {
		for _, line := range inertWarning(backend.ID()) {
			view.print(line)
		}
	}
	return persist.Run(ctx, s.plan, persist.Deps{
		Store: store, Workers: safe.workers(workers), Probes: safe.probes(probes),
		Clock: clock.Real(), Sink: view, Budget: spent,
	}), nil
}

// loopsUnprobed reports whether a runner loop works on the plan, and no check has a
// probe that looks at what is there in the end.
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

// inertWarning says, in lines for a terminal, that a run cannot be verified.
func inertWarning(backend string) []string {
	return []string{
		"warning: the backend " + backend + " can only answer here and change nothing, and no",
		"         check looks at what is made: this run cannot end complete. Take an",
		"         agent with tools, or give the plan a check with a command.",
	}
}

// openState takes the state folder for this process alone. With fresh an earlier
// state is set aside first.
func (a *app) openState(s site, fresh bool) (*journal.Disk, error) {
	if s.own {
		if err := ignoreHidden(s.folder); err != nil {
			return nil, stateError(err)
		}
	}
	_, err := os.Stat(s.state)
	store, opening := journal.Open(s.state, journal.Options{})
	if opening != nil {
		return nil, stateError(opening)
	}
	if !fresh || errors.Is(err, fs.ErrNotExist) {
		return store, nil
	}
	aside := strings.TrimRight(s.state, `/\`) + "." + time.Now().UTC().Format("20060102-150405.000")
	// Renamed while it is held, so that nobody else begins to work on it.
	if err := errors.Join(os.Rename(s.state, aside), store.Close()); err != nil {
		return nil, stateError(fmt.Errorf("set the old state aside: %w; choose another folder with --state", err))
	}
	fmt.Fprintf(a.stderr, "the old state is kept in %s\n", aside)
	if store, err = journal.Open(s.state, journal.Options{}); err != nil {
		return nil, stateError(err)
	}
	return store, nil
}

// stateError is usage where another process works on the state, and otherwise
// that the state cannot be kept.
func stateError(err error) error {
	if errors.Is(err, journal.ErrBusy) {
		return usage(fmt.Errorf("%w; wait for it, end it, or name another folder with --state", err))
	}
	return &exitError{persist.StatusError.ExitCode(), err}
}

// ignoreHidden keeps states out of version control.
func ignoreHidden(folder string) error {
	folder = filepath.Join(folder, hiddenFolder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make the folder of the state: %w; choose another one with --state", err)
	}
	file := filepath.Join(folder, ".gitignore")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	if err := os.WriteFile(file, []byte("*\n"), 0o644); err != nil {
		return fmt.Errorf("keep the state out of version control: %w; choose another folder with --state", err)
	}
	return nil
}

// explainChange says what of a plan is not that of its state, and what to do.
func explainChange(changed *persist.PlanChanged, s site) error {
	return usage(fmt.Errorf("%s is not the plan that %s is the state of: %w; begin anew with --fresh, which keeps that state aside, or name another folder with --state",
		s.file, s.state, changed))
}
