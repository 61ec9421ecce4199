package explore

import (
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Tick is the smallest difference between two times.
const Tick = tick

// Path is a golden path for specs.
type Path struct {
	Calls, Writes, Turns int
	Points               drive.Points
	RealTime             bool
}

func (p Path) path() *path {
	return &path{calls: make([]result.Call, p.Calls), writes: p.Writes, turns: p.Turns, points: p.Points, realTime: p.RealTime}
}

// PlanOf plans the families: the text forms of each run, and what is left out.
func PlanOf(p Path, families []result.Family, thorough bool) (runs []string, left []string) {
	plan := planOf(p.path(), families, (&explorer{opts: Options{Thorough: thorough}}).budget())
	for _, run := range plan.items {
		runs = append(runs, key(run.ps))
	}
	return runs, plan.left
}

// GroupsOf is how many runs share the writes.
func GroupsOf(writes, work, budget int) int { return groupsOf(writes, work, budget) }

// Halves are the two progressions that together strike what p strikes.
func Halves(p perturb.Perturbation, writes int) []perturb.Perturbation { return halves(p, writes) }

// Smaller are the perturbations one step smaller, as texts.
func Smaller(ps []perturb.Perturbation, writes int) (all []string) {
	for _, s := range smaller(ps, writes) {
		all = append(all, key(s))
	}
	return all
}

// Design is a covering design for specs.
type Design struct {
	Pairs        [][2]perturb.Perturbation
	Kinds, Calls int
}

// PairsOf chooses pairs.
func PairsOf(kinds []mocks.Fault, calls, limit int, seed uint64, bearable func(perturb.Perturbation) bool) Design {
	d := pairsOf(kinds, calls, limit, seed, bearable)
	out := Design{Kinds: d.kinds, Calls: d.calls}
	for _, run := range d.items {
		out.Pairs = append(out.Pairs, [2]perturb.Perturbation(run.ps))
	}
	return out
}

// OutcomeOf is what findings and ending say.
func OutcomeOf(found []gate.Finding, f, golden measure.Facts) result.Outcome {
	return outcomeOf(found, &f, &golden)
}

// Sound holds a golden run to the invariants that ship.
func Sound(golden harness.Judged) error {
	e := explorer{golden: golden, result: result.Exploration{Invariants: kinds.Language().Invariants(golden.Scenario.Agent)}}
	return e.sound()
}

// Broken are the classes of what a run broke.
func Broken(found []gate.Finding) []string { return broken(found) }

// Failures are the indices of the cells that are to be shrunk; then the candidates that
// are smaller, without those that are known.
func Failures(cells []result.Cell, known ...string) (failed []int, candidates []string) {
	e := explorer{result: result.Exploration{Cells: cells}, known: map[string][]string{}}
	for _, k := range known {
		e.known[k] = nil
	}
	for i := range cells {
		ps, err := parse(cells[i].Perturb)
		if err != nil {
			panic(err)
		}
		e.items = append(e.items, item{cells[i].Family, ps})
	}
	open := e.failures()
	for _, f := range open {
		failed = append(failed, f.cell)
	}
	for _, run := range e.candidates(open) {
		candidates = append(candidates, key(run.ps))
	}
	return failed, candidates
}

// Smallest are the runs that are recorded.
func Smallest(cells []result.Cell) (runs []string, err error) {
	e := explorer{result: result.Exploration{Cells: cells}}
	items, err := e.smallest()
	for _, run := range items {
		runs = append(runs, key(run.ps))
	}
	return runs, err
}

// Healed reports whether the agent came through p by asking again, of which is known
// whether it did and whether the run ended otherwise.
func Healed(p perturb.Perturbation, retried, ended bool) bool {
	e := explorer{ended: map[string]bool{p.String(): ended}, retried: map[string]bool{p.String(): retried}}
	return e.healed(p)
}
