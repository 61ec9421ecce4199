// Package explore drives a golden path along every way off it: it plans the
// perturbations, drives them, holds each run against the invariants, and shrinks
// what fails to the smallest perturbation.
//
// It is deterministic: one scenario, one seed and one set of options have one
// result, whatever the number of workers. It keeps no recording of a run that
// came through, so that its memory does not grow with the number of runs but for
// a line about each.
package explore

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/scenarios"
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
	Families []survival.Family
	// Pairs is how many pairs of faults are driven at most; 0 means DefaultPairs, and
	// less than 0 none.
	Pairs int
	// MaxRuns is how many cells there may be; 0 means no limit. Runs that shrink a
	// failure are not counted: there are at most a few for each.
	MaxRuns int
	// Seed chooses the pairs; 0 means the scenario's.
	Seed uint64
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
	// Doing is "golden path", "perturbations", "pairs" or "shrinking".
	Doing string
	// Done and Planned count its runs; for shrinking, the failures.
	Done, Planned int
	// Cell is the one that was done last; nil for shrinking.
	Cell *survival.Cell
}

// GoldenError says that the scenario cannot be explored, because it does not even
// pass unperturbed.
type GoldenError struct {
	Scenario string
	Verdict  gate.Verdict
	Findings []gate.Finding
}

// Error names the scenario, its verdict and the first finding.
func (e *GoldenError) Error() string {
	text := fmt.Sprintf("the golden path %s does not pass (%s)", e.Scenario, e.Verdict)
	if len(e.Findings) > 0 {
		text += ": " + e.Findings[0].Message
	}
	return text + "; run it by itself and mend it first"
}

// Run explores a scenario: its own perturbations, if it has any, are left aside.
// When ctx ends, the cells done so far are kept, and the result says how many are
// missing. An error is a *GoldenError, the sink's, or that of a scenario that
// cannot be driven.
func Run(ctx context.Context, sc scenarios.Scenario, opts Options) (survival.Result, error) {
	return survival.Result{}, fmt.Errorf("explore %s: not yet", sc.Name)
}
