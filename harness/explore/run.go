package explore

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// The values of Progress.Doing.
const (
	doingGolden  = "golden path"
	doingPlan    = "plan"
	doingCells   = "perturbations"
	doingOutages = "outages"
	doingPairs   = "pairs"
	doingShrink  = "shrinking"
)

// explorer is the state of an exploration.
type explorer struct {
	opts   Options
	driver drive.Driver
	golden harness.Judged
	tape   *drive.Tape // of the golden path; nil if its runs start at the beginning
	path   path
	result result.Exploration
	// known maps perturbations to the classes of failures of their runs; empty for a run that
	// failed nothing.
	known map[string][]string
	// ended reports for single perturbations whether the run ended differently from the golden
	// path, or earlier.
	ended map[string]bool
	// retried reports for single perturbations whether a call was repeated.
	retried map[string]bool
	// driven counts the perturbed runs, without those that shrink failures.
	driven int
	// items are the perturbations of the result's cells.
	items []item
}

func (e *explorer) reportProgress(doing string, done, planned int, cell *result.Cell) {
	if e.opts.Progress != nil {
		e.opts.Progress(Progress{Doing: doing, Done: done, Planned: planned, Cell: cell})
	}
}

// driveGolden drives the golden path. It reports false if ctx ended first.
func (e *explorer) driveGolden(ctx context.Context) (done bool, err error) {
	e.reportProgress(doingGolden, 0, 1, nil)
	sink := &tap{next: e.opts.Sink, trial: func(j *harness.Judged) { e.golden, done = *j, true }}
	if _, err := e.drive(ctx, sink, false, []item{{}}); err != nil || !done {
		return false, err
	}
	if err := e.checkGolden(); err != nil {
		return false, err
	}
	e.path = pathOf(&e.golden, e.driver.Points())
	return true, e.recordTape(ctx)
}

// checkGolden checks the golden run against the expectations and all invariants: what it
// violates itself is not caused by a perturbation.
func (e *explorer) checkGolden() error {
	verdict, found := e.golden.Verdict, e.golden.Findings
	if verdict == gate.Pass {
		head := *e.golden.Scenario
		head.Invariants = e.result.Invariants
		judge, err := gate.ForScenario(e.opts.Language, &head)
		if err != nil {
			return fmt.Errorf("judge the golden path %s: %w", head.Name, err)
		}
		found = judge.Judge(e.golden.Facts)
		verdict = gate.VerdictOf(found)
	}
	if verdict != gate.Pass {
		return &GoldenError{Scenario: e.golden.Scenario.Name, Verdict: verdict, Findings: found}
	}
	return nil
}

// drive drives one run for each item; an item without perturbations is the golden path. With bare
// nothing is encoded for a recording.
func (e *explorer) drive(ctx context.Context, sink harness.Sink, bare bool, items []item) (harness.Outcome, error) {
	return harness.RunDrivers(ctx, e.drivers(items), harness.Options{
		Workers: e.opts.Workers, Env: e.opts.Env, Sink: sink, Bare: bare, Language: e.opts.Language,
	})
}

// drivers creates the drivers on demand.
func (e *explorer) drivers(items []item) iter.Seq[drive.Driver] {
	return func(yield func(drive.Driver) bool) {
		for _, run := range items {
			d, err := e.driverOf(run.ps)
			if err != nil {
				d = impossible{Driver: e.driver, name: key(run.ps), reason: err.Error()}
			}
			if !yield(d) {
				return
			}
		}
	}
}

// impossible replaces a perturbed run that cannot be driven.
type impossible struct {
	drive.Driver
	name, reason string
}

// Head returns the golden path's head under the perturbed name.
func (d impossible) Head() record.Scenario {
	head := d.Driver.Head()
	head.Name, head.Expect = fmt.Sprintf("%s [%s]", head.Name, d.name), expect.Expect{}
	return head
}

// Trial reports that the perturbation did not happen.
func (d impossible) Trial(context.Context, int) (record.Trial, []record.Timing) {
	return record.Trial{
		Head:   record.TrialHead{Scenario: d.Head().Name, N: 1},
		Script: record.Script{Unfired: []string{d.name + ": " + d.reason}},
	}, nil
}

// cells drives the items and adds a cell for each completed one, in order.
func (e *explorer) cells(ctx context.Context, doing string, items []item) error {
	if limit := e.opts.MaxRuns; limit > 0 && len(e.result.Cells)+len(items) > limit {
		keep := max(0, limit-len(e.result.Cells))
		e.stop(fmt.Sprintf("the limit of %s was reached", format.Plural(limit, "run")), len(items)-keep)
		items = items[:keep]
	}
	done, before := 0, e.driven
	sink := &tap{trial: func(j *harness.Judged) {
		cell := e.judge(items[done], j)
		done++
		e.driven = before + done
		e.reportProgress(doing, e.driven, before+len(items), cell)
	}}
	outcome, err := e.drive(ctx, sink, true, items)
	if outcome.Interrupted {
		e.stop(result.UserInterrupt, len(items)-done)
	}
	return err
}

// stop records the number of skipped runs and the first reason.
func (e *explorer) stop(why string, runs int) {
	if runs > 0 {
		e.result.Stopped = cmp.Or(e.result.Stopped, why)
		e.result.NotRun += runs
	}
}

// judge adds the cell of a run unless it repeats another one.
func (e *explorer) judge(run item, j *harness.Judged) *result.Cell {
	cell := cellOf(run, j, &e.golden.Facts)
	if run.family == result.Outages && !e.settle(&run, &cell, j) {
		return nil
	}
	e.items = append(e.items, run)
	e.result.Cells = append(e.result.Cells, cell)
	e.known[key(run.ps)] = broken(cell.Findings)
	if len(run.ps) == 1 {
		e.ended[key(run.ps)] = cell.Outcome != result.Survived
		e.retried[key(run.ps)] = j.Facts.Script.Requests > e.golden.Facts.Script.Requests
	}
	return &cell
}

// continues reports whether the path is known to continue after a fault.
func (e *explorer) continues(p perturb.Perturbation) bool {
	return !e.ended[p.String()]
}

// interrupted reports whether the user interrupted the exploration.
func interrupted(ctx context.Context) bool { return clock.Err(ctx) != nil }

// tap forwards the events of a run and inspects each trial.
type tap struct {
	next  harness.Sink
	trial func(*harness.Judged)
}

// Scenario implements harness.Sink.
func (t *tap) Scenario(s record.Scenario) error {
	if t.next == nil {
		return nil
	}
	return t.next.Scenario(s)
}

// Trial implements harness.Sink.
func (t *tap) Trial(j harness.Judged) error {
	t.trial(&j)
	if t.next == nil {
		return nil
	}
	return t.next.Trial(j)
}
