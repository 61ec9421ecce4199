// Package explore runs a golden path under every failure mode: it plans the
// perturbations, drives them, holds each run against the invariants, and shrinks
// what fails to the smallest perturbation.
//
// It is deterministic: one scenario, one seed and one set of options have one
// result, whatever the number of workers. It keeps no recording of a run that
// came through, so that its memory does not grow with the number of runs but for
// a line about each.
package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// DefaultPairs is how many pairs of faults are driven if nothing is said.
const DefaultPairs = 200

// Options are how an exploration is carried out. Env is required.
type Options struct {
	// Env is what drivers share; the caller closes it afterwards.
	Env *drive.Env
	// Workers is how many runs are under way at once; less than 1 means 1.
	Workers int
	// Families are those to explore; none means all.
	Families []result.Family
	// Pairs is how many pairs of faults are driven at most; 0 means DefaultPairs, and
	// less than 0 none.
	Pairs int
	// MaxRuns is how many cells there may be; 0 means no limit. Runs that shrink a
	// failure are not counted: there are at most a few for each.
	MaxRuns int
	// Thorough leaves nothing out because the path is long: no call is spared, and no
	// two crashes share a run.
	Thorough bool
	// Seed chooses the pairs; 0 means the scenario's.
	Seed uint64
	// Language measures and judges what only some agents have; nil knows no agent.
	Language *gate.Language
	// Tool is the program's name and version, for the result.
	Tool string
	// Progress, if given, is told how far the exploration is, in the order of the plan
	// and on the goroutine that called Run.
	Progress func(Progress)
	// Sink, if given, is told the golden run and then the smallest run of each failure,
	// every one as a scenario with one trial; a recording is made of them.
	Sink harness.Sink
}

// Progress says how far an exploration is.
type Progress struct {
	// Doing is "golden path", "perturbations", "outages", "pairs" or "shrinking".
	Doing string
	// Done and Planned count its runs; for shrinking, the failures.
	Done, Planned int
	// Cell is the one that was done last; nil where none was added.
	Cell *result.Cell
}

// GoldenError says that the scenario cannot be explored, because it does not even
// pass unperturbed, or breaks an invariant by itself.
type GoldenError struct {
	Scenario string
	Verdict  gate.Verdict
	Findings []gate.Finding
}

// Error names the scenario, its verdict and the first finding.
func (e *GoldenError) Error() string {
	text := fmt.Sprintf("the golden path %s does not pass (%s)", e.Scenario, e.Verdict)
	if i := slices.IndexFunc(e.Findings, func(f gate.Finding) bool { return f.Rule == gate.InvariantRule }); i >= 0 {
		return fmt.Sprintf("the golden path %s breaks this invariant by itself: %s; mend the one or the other first",
			e.Scenario, e.Findings[i].Message)
	}
	if len(e.Findings) > 0 {
		text += ": " + e.Findings[0].Message
	}
	return text + "; run it by itself and mend it first"
}

// Run explores a scenario: its own perturbations, if it has any, are left aside.
// When ctx ends, the cells done so far are kept, and the result says how many are
// missing. An error is a *GoldenError, the sink's, or that of a scenario that
// cannot be driven.
func Run(ctx context.Context, sc scenarios.Scenario, opts Options) (result.Exploration, error) {
	sc.Perturb, sc.Trials = nil, 1
	opts.Seed = cmp.Or(opts.Seed, sc.Seed)
	opts.Pairs = cmp.Or(opts.Pairs, DefaultPairs)
	driver, err := drive.New(sc, opts.Env)
	if err != nil {
		return result.Exploration{}, fmt.Errorf("prepare scenario %s: %w", sc.Name, err)
	}
	e := &explorer{opts: opts, driver: driver, known: map[string][]string{}, ended: map[string]bool{}, retried: map[string]bool{}}
	head := driver.Head()
	e.result = result.Exploration{
		Schema: result.ExplorationSchema, Tool: opts.Tool, Scenario: sc.Name, File: sc.File, Digest: sc.Digest,
		Seed: opts.Seed, Agent: head.Agent, Invariants: slices.Concat(opts.Language.Invariants(head.Agent), sc.Invariants),
	}
	walked, err := e.walk(ctx)
	if err != nil {
		return e.result, err
	}
	if !walked {
		e.result.Stopped = result.UserInterrupt
		return e.result, nil
	}
	return e.result, e.explore(ctx, &sc)
}

// explore leaves the golden path, which was driven.
func (e *explorer) explore(ctx context.Context, sc *scenarios.Scenario) error {
	e.result.Golden = measure.GoldenOf(&e.golden.Facts)
	e.result.Calls = e.path.calls
	p := planOf(&e.path, e.opts.Families, e.budget())
	if err := e.cells(ctx, doingCells, p.items); err != nil {
		return err
	}
	// The others rest on what single faults did.
	if err := e.cells(ctx, doingOutages, e.outages(&p)); err != nil {
		return err
	}
	design := e.pairs(&p)
	if err := e.cells(ctx, doingPairs, design.items); err != nil {
		return err
	}
	e.result.Covered = e.covered(&design)
	e.result.Left = p.left
	if err := e.shrink(ctx, sc); err != nil {
		return err
	}
	return e.record(ctx)
}

// budget is what the runs of a family may cost; 0 means no bounds.
func (e *explorer) budget() int {
	if e.opts.Thorough {
		return 0
	}
	return enough
}

// wants reports whether a family is to be explored.
func (e *explorer) wants(f result.Family) bool {
	return len(e.opts.Families) == 0 || slices.Contains(e.opts.Families, f)
}

// pairs plans pairs of faults, from what single ones did.
func (e *explorer) pairs(p *plan) pairing {
	if e.opts.Pairs < 0 || !e.wants(result.Pairs) {
		return pairing{}
	}
	design := pairsOf(e.possible(), len(e.path.calls), e.opts.Pairs, e.opts.Seed, e.bearable)
	if len(design.items) == 0 {
		p.leave("%s: no call comes after one that a fault left going", result.Pairs)
	}
	return design
}

// covered says how far the pairs that happened cover all; empty where none was
// planned.
func (e *explorer) covered(design *pairing) string {
	if len(design.items) == 0 {
		return ""
	}
	kinds, calls, happened := map[string]bool{}, map[[2]int]bool{}, 0
	for i, run := range e.items {
		if o := e.result.Cells[i].Outcome; run.family != result.Pairs || o == result.Unfired || o == result.Errored {
			continue
		}
		happened++
		first, second := run.ps[0], run.ps[1]
		calls[[2]int{first.N, second.N}] = true
		first.N, second.N = 1, 1
		kinds[key([]perturb.Perturbation{first, second})] = true
	}
	return fmt.Sprintf("%d pairs cover %d of %d pairs of faults and %d of %d pairs of calls",
		happened, len(kinds), design.plannedKinds, len(calls), design.plannedCalls)
}

// possible are the faults that happened anywhere on the path, or all that could,
// where none was tried by itself.
func (e *explorer) possible() []mocks.Fault {
	fired := map[mocks.Fault]bool{}
	for i, run := range e.items {
		if run.family == result.Faults && e.result.Cells[i].Outcome != result.Unfired {
			fired[*run.ps[0].Fault] = true
		}
	}
	all := faultsOf(&e.path, &plan{})
	if len(fired) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(f mocks.Fault) bool { return !fired[f] })
}
