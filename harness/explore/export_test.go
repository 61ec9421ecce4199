package explore

import (
	"time"

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

// Path describes a golden path for specs.
type Path struct {
	Calls, Writes, Turns int
	Points               drive.Points
	RealTime             bool
	Stored               []string
}

func (p Path) path() *path {
	return &path{calls: make([]result.Call, p.Calls), writes: p.Writes, turns: p.Turns, points: p.Points, realTime: p.RealTime, stored: p.Stored}
}

// PlanOf plans the families. It returns the text form of each run, and the reasons for omissions.
func PlanOf(p Path, families []result.Family, thorough bool) (runs []string, left []string) {
	plan := planOf(p.path(), families, (&explorer{opts: Options{Thorough: thorough}}).budget())
	for _, run := range plan.items {
		runs = append(runs, key(run.ps))
	}
	return runs, plan.left
}

// OutagesOf plans the outages of a path without results of single faults.
func OutagesOf(p Path, thorough bool) (runs []string, left []string) {
	var plan plan
	e := &explorer{opts: Options{Families: []result.Family{result.Outages}, Thorough: thorough}, path: *p.path()}
	for _, run := range e.outages(&plan) {
		runs = append(runs, key(run.ps))
	}
	return runs, plan.left
}

// WaitOf returns how long a run waits in real time.
func WaitOf(p Path, texts ...string) time.Duration {
	ps, err := parse(texts)
	if err != nil {
		panic(err)
	}
	p.RealTime = true
	return p.path().wait(item{result.Pairs, ps})
}

// AttemptPairsOf chooses pairs of faults of the only call.
func AttemptPairsOf(firsts, seconds []mocks.Fault, limit int, seed uint64) Design {
	return designOf(attemptPairsOf(firsts, seconds, limit, seed))
}

// GroupsOf returns the number of runs that share the writes.
func GroupsOf(writes, work, budget int) int { return groupsOf(writes, work, budget) }

// Halves returns the two progressions that together hit the same writes as p.
func Halves(p perturb.Perturbation, writes int) []perturb.Perturbation { return halves(p, writes) }

// Smaller returns the perturbations that are one step smaller, as texts.
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
func PairsOf(kinds []mocks.Fault, calls, limit int, seed uint64, continues func(perturb.Perturbation) bool) Design {
	return designOf(pairsOf(kinds, calls, limit, seed, continues))
}

func designOf(d pairing) Design {
	out := Design{Kinds: d.kinds, Calls: d.calls}
	for _, run := range d.items {
		out.Pairs = append(out.Pairs, [2]perturb.Perturbation(run.ps))
	}
	return out
}

// OutcomeOf derives the outcome from the findings and the end of a run.
func OutcomeOf(found []gate.Finding, f, golden measure.Facts) result.Outcome {
	return outcomeOf(found, &f, &golden)
}

// Sound checks a golden run against the built-in invariants.
func Sound(golden harness.Judged) error {
	e := explorer{golden: golden, result: result.Exploration{Invariants: kinds.Language().Invariants(golden.Scenario.Agent)}}
	return e.checkGolden()
}

// Broken returns the classes of the failing findings.
func Broken(found []gate.Finding) []string { return broken(found) }

// Failures returns the indices of the cells to shrink, and the smaller candidates without
// known ones.
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

// Smallest returns the recorded runs.
func Smallest(cells []result.Cell) (runs []string, err error) {
	e := explorer{result: result.Exploration{Cells: cells}}
	items, err := e.smallest()
	for _, run := range items {
		runs = append(runs, key(run.ps))
	}
	return runs, err
}

// Healed reports whether the agent survived p by a retry, given whether it retried and
// whether the run ended differently.
func Healed(p perturb.Perturbation, retried, ended bool) bool {
	e := explorer{ended: map[string]bool{p.String(): ended}, retried: map[string]bool{p.String(): retried}}
	return e.healed(p)
}
