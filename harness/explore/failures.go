package explore

import (
	"context"
	"slices"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// maxRounds limits the rounds of shrinking a failure; a group of a million writes takes twenty.
const maxRounds = 24

// failure is a failed cell that is being shrunk.
type failure struct {
	cell  int    // its index
	class string // what must stay broken
	best  []perturb.Perturbation
	tried [][]perturb.Perturbation
}

// shrink reduces the perturbations of all failed cells as far as possible. Each round drives the
// candidates of all failures together, each once, which is fast and independent of the order in
// which runs end.
func (e *explorer) shrink(ctx context.Context, sc *scenarios.Scenario) error {
	all := e.failures()
	open := all
	for round := 0; round < maxRounds && len(open) > 0 && !interrupted(ctx); round++ {
		e.reportProgress(doingShrink, len(all)-len(open), len(all), nil)
		if err := e.try(ctx, open); err != nil {
			return err
		}
		open = slices.DeleteFunc(slices.Clone(open), func(f *failure) bool { return !e.improve(f) })
	}
	for _, f := range all {
		cell := &e.result.Cells[f.cell]
		cell.Shrunk = texts(f.best)
		cell.Command = Command(sc, cell.Shrunk)
	}
	if len(all) > 0 {
		e.reportProgress(doingShrink, len(all), len(all), nil)
	}
	return nil
}

// failures returns the failed cells.
func (e *explorer) failures() (all []*failure) {
	for i := range e.result.Cells {
		if e.result.Cells[i].Outcome != result.Failed {
			continue
		}
		if classes := broken(e.result.Cells[i].Findings); len(classes) > 0 {
			all = append(all, &failure{cell: i, class: classes[0], best: e.items[i].ps})
		}
	}
	return all
}

// candidates returns the untried smaller perturbations, without duplicates.
func (e *explorer) candidates(open []*failure) (items []item) {
	asked := map[string]bool{}
	for _, f := range open {
		f.tried = smaller(f.best, e.path.writes)
		for _, ps := range f.tried {
			k := key(ps)
			if _, known := e.known[k]; !known && !asked[k] {
				asked[k] = true
				items = append(items, item{e.result.Cells[f.cell].Family, ps})
			}
		}
	}
	return items
}

// try drives the candidates.
func (e *explorer) try(ctx context.Context, open []*failure) error {
	items := e.candidates(open)
	done := 0
	sink := &tap{trial: func(j *harness.Judged) {
		e.known[key(items[done].ps)] = broken(j.Findings)
		done++
	}}
	_, err := e.drive(ctx, sink, true, items)
	return err
}

// improve takes the first candidate that fails in the same way. It returns false without one: the
// failure is then minimal.
func (e *explorer) improve(f *failure) bool {
	for _, ps := range f.tried {
		if slices.Contains(e.known[key(ps)], f.class) {
			f.best = ps
			return true
		}
	}
	return false
}

// maxRecorded limits the recorded failures.
const maxRecorded = 200

// record drives the smallest run of each failure again for the recording, one for each command.
func (e *explorer) record(ctx context.Context) error {
	if e.opts.Sink == nil || interrupted(ctx) {
		return nil
	}
	items, err := e.smallest()
	if err != nil {
		return err
	}
	_, err = e.drive(ctx, e.opts.Sink, false, items)
	return err
}

// smallest returns the smallest runs of the failures without duplicates, at most maxRecorded.
func (e *explorer) smallest() ([]item, error) {
	var items []item
	seen := map[string]bool{}
	for i := range e.result.Cells {
		cell := &e.result.Cells[i]
		if cell.Command == "" || seen[cell.Command] || len(items) == maxRecorded {
			continue
		}
		seen[cell.Command] = true
		ps, err := parse(cell.Shrunk)
		if err != nil {
			return nil, err
		}
		items = append(items, item{cell.Family, ps})
	}
	return items, nil
}

func parse(texts []string) ([]perturb.Perturbation, error) {
	ps := make([]perturb.Perturbation, len(texts))
	for i, text := range texts {
		var err error
		if ps[i], err = perturb.Parse(text); err != nil {
			return nil, err
		}
	}
	return ps, nil
}
