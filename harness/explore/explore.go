// Package explore runs a golden path under every failure mode: it plans perturbations, drives them,
// checks each run against the invariants, and shrinks failures to the smallest perturbation.
//
// It is deterministic: a scenario, a seed and options have one result, whatever the number of
// workers. It does not keep the recordings of runs that survived, so its memory grows by one cell
// per run.
package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// DefaultPairs is the default maximal number of pairs of faults.
const DefaultPairs = 200

// Options configures an exploration. Env is required.
type Options struct {
	// Env is shared by all drivers; the caller closes it afterwards.
	Env *drive.Env
	// Workers is the number of concurrent runs; less than 1 means 1.
	Workers int
	// Families limits the explored families; empty means all.
	Families []result.Family
	// Pairs limits the number of pairs of faults; 0 means DefaultPairs, less than 0 none.
	Pairs int
	// MaxRuns limits the number of cells; 0 means no limit. The few runs that shrink each failure
	// are not counted.
	MaxRuns int
	// Thorough disables savings: every call of a long path is perturbed, every crash has its own
	// run, and every run starts at the beginning.
	Thorough bool
	// CompareOneIn is how many runs that start in the middle of the golden path there are for each one,
	// chosen by the seed, that is also driven from the beginning and compared; 0 means 100.
	CompareOneIn int
	// Seed chooses the pairs; 0 means the scenario's seed.
	Seed uint64
	// Language measures and judges the facts of extensions; nil means none.
	Language *gate.Language
	// Tool is the program's name and version, for the result.
	Tool string
	// Progress, if set, is called with the progress in plan order, on the goroutine that called
	// Run.
	Progress func(Progress)
	// Sink, if set, receives the golden run and then the smallest run of each failure, each as a
	// scenario with one trial, to be recorded.
	Sink harness.Sink
}

// Progress describes how far an exploration is.
type Progress struct {
	// Doing is "golden path", "plan", "perturbations", "outages", "pairs" or "shrinking".
	Doing string
	// Done and Planned count the runs of all families so far; for shrinking, the failures.
	Done, Planned int
	// Forecast is the plan's, if Doing is "plan".
	Forecast Forecast
	// Cell is the last completed one; nil if none was added.
	Cell *result.Cell
}

// Forecast describes the runs of an exploration before they are driven.
type Forecast struct {
	// Runs are planned. At most Later more follow from their results: outages and pairs.
	Runs, Later int
	// RealTime is true if each run takes about as long as the golden path. Wait is the time that all
	// runs wait in addition, in the worst case.
	RealTime bool
	Wait     time.Duration
}

// GoldenError reports that the scenario cannot be explored, because it fails or violates an
// invariant without perturbations.
type GoldenError struct {
	Scenario string
	Verdict  gate.Verdict
	Findings []gate.Finding
}

// Error names the scenario, its verdict and the first finding.
func (e *GoldenError) Error() string {
	text := fmt.Sprintf("the golden path %s does not pass (%s)", e.Scenario, e.Verdict)
	if i := slices.IndexFunc(e.Findings, func(f gate.Finding) bool { return f.Rule == gate.InvariantRule }); i >= 0 {
		return fmt.Sprintf("the golden path %s violates this invariant without perturbations: %s; fix the agent or the invariant first",
			e.Scenario, e.Findings[i].Message)
	}
	if len(e.Findings) > 0 {
		text += ": " + e.Findings[0].Message
	}
	return text + "; run it alone and fix it first"
}

// Run explores a scenario with scripted backends, and ignores the perturbations that the scenario has itself. When ctx
// ends, the completed cells are returned with the number of missing ones. The error is a
// *GoldenError, an error of the sink, or that of a scenario that cannot be driven.
func Run(ctx context.Context, sc scenarios.Scenario, opts Options) (result.Exploration, error) {
	if len(sc.LiveBackends()) > 0 {
		return result.Exploration{}, fmt.Errorf(
			"explore scenario %s: one of its backends is live; only runs with scripted backends can be repeated",
			sc.Name)
	}
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
	walked, err := e.driveGolden(ctx)
	if err != nil {
		return e.result, err
	}
	if !walked {
		e.result.Stopped = result.UserInterrupt
		return e.result, nil
	}
	return e.result, e.explore(ctx, &sc)
}

// explore perturbs the golden path.
func (e *explorer) explore(ctx context.Context, sc *scenarios.Scenario) error {
	e.result.Golden = measure.GoldenOf(&e.golden.Facts)
	if e.path.realTime { // it differs from run to run
		e.result.Golden.Duration = 0
	}
	e.result.Calls = e.path.calls
	p := planOf(&e.path, e.opts.Families, e.budget())
	if e.opts.Progress != nil {
		e.opts.Progress(Progress{Doing: doingPlan, Forecast: e.forecast(&p)})
	}
	if err := e.cells(ctx, doingCells, p.items); err != nil {
		return err
	}
	// The other families depend on the results of single faults.
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

// budget limits the work of the runs of a family; 0 means no limit.
func (e *explorer) budget() int {
	if e.opts.Thorough {
		return 0
	}
	return familyBudget
}

func (e *explorer) wants(f result.Family) bool {
	return len(e.opts.Families) == 0 || slices.Contains(e.opts.Families, f)
}

// pairs plans pairs of faults based on the results of single faults.
func (e *explorer) pairs(p *plan) pairing {
	if e.opts.Pairs < 0 || !e.wants(result.Pairs) {
		return pairing{}
	}
	possible := e.possible()
	design := pairsOf(possible, len(e.path.calls), e.opts.Pairs, e.opts.Seed, e.continues)
	switch {
	case len(e.path.calls) == 1:
		if design = attemptPairsOf(e.repeated(possible), possible, e.opts.Pairs, e.opts.Seed); len(design.items) == 0 {
			p.omit("%s: the agent makes one call, and does not repeat it when it fails", result.Pairs)
		}
	case len(design.items) == 0:
		p.omit("%s: no call follows a fault that the agent survived", result.Pairs)
	}
	return design
}

// repeated returns the faults of the only call after which the agent is not known not to repeat it.
func (e *explorer) repeated(all []mocks.Fault) []mocks.Fault {
	return slices.DeleteFunc(slices.Clone(all), func(f mocks.Fault) bool {
		retried, known := e.retried[fault(1, f).String()]
		return f.Brings() || known && !retried
	})
}

// covered describes the coverage of the pairs that happened; empty if none was planned.
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

// possible returns the faults that happened anywhere on the path, or all faults if none was tried
// alone.
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
