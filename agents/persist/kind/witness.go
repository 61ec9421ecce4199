package kind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"maps"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/drive"
)

// witness observes the records and attempts of all processes of a trial and checks the invariants
// of a supervisor: a task whose end is stored is not done again, no task is lost, and an attempt
// that may have had effects keeps its key.
type witness struct {
	drive.Violations
	// done has the ids of the tasks whose end is stored.
	done map[string]bool
	// open has, by task, the keys of attempts that began and whose outcome is not stored.
	open map[string]string
	// checks counts the stored results of each check.
	checks map[plan.Check]int
	// records counts the stored records; journal is their hash without times and answers.
	records int
	journal hash.Hash
}

func newWitness(sink event.Sink) *witness {
	return &witness{
		Violations: drive.Violations{Sink: sink}, journal: sha256.New(),
		done: map[string]bool{}, open: map[string]string{}, checks: map[plan.Check]int{},
	}
}

// watch wraps a store so that each append is checked.
func (w *witness) watch(s journal.Store) journal.Store { return &watched{s, w} }

type watched struct {
	journal.Store
	witness *witness
}

// Append implements journal.Store.
func (w *watched) Append(records ...[]byte) error {
	if err := w.Store.Append(records...); err != nil {
		return err
	}
	for _, data := range records {
		w.witness.stored(data)
	}
	return nil
}

// stored checks a record that is stored now.
func (w *witness) stored(data []byte) {
	r, err := state.Decode(data)
	w.enter(r)
	switch {
	case err != nil:
		w.Report("a record cannot be read: %v", err)
	case r.Kind != state.KindOutcome:
	default:
		delete(w.open, r.Task)
		if r.Outcome.Grade != string(persist.Done) {
			return
		}
		if w.done[r.Task] {
			w.Report("task %s is stored as done twice", r.Task)
		}
		w.done[r.Task] = true
	}
}

// workers wraps workers so that each attempt is checked.
func (w *witness) workers(all map[string]persist.Worker) map[string]persist.Worker {
	seen := maps.Clone(all)
	for name, worker := range all {
		seen[name] = overseen{worker, w}
	}
	return seen
}

type overseen struct {
	persist.Worker
	witness *witness
}

// Work implements persist.Worker.
func (o overseen) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	w := o.witness
	if w.done[a.Task.ID] {
		w.Report("task %s is done again after its end was stored", a.Task.ID)
	}
	if before, again := w.open[a.Task.ID]; again && before != a.Key {
		w.Report("task %s is begun anew with the key %s while the attempt %s has no outcome", a.Task.ID, a.Key, before)
	}
	w.open[a.Task.ID] = a.Key
	return o.Worker.Work(ctx, a)
}

// enter adds a record to the hash of the journal, without times, costs and answers, which may differ
// when a backend is called again.
func (w *witness) enter(r state.Record) {
	w.records++
	r.At = 0
	if r.Outcome != nil {
		r.Outcome.Answer, r.Outcome.Spent = "", state.Spent{}
	}
	if r.End != nil {
		r.End.Spent = state.Spent{}
	}
	for i := range r.Results {
		w.checks[r.Results[i].Name]++
		r.Results[i].Took = 0
	}
	data, err := r.Encode()
	if err != nil {
		w.Report("a record cannot be written: %v", err)
	}
	_, _ = w.journal.Write(append(data, '\n')) // never fails
}

// close checks the result against the stored records, and reports the open tasks.
func (w *witness) close(r persist.Result) {
	w.checkResult(r)
	open, planned := 0, 0
	for _, t := range r.Tasks {
		switch {
		case t.State == string(persist.Done) && t.From == "":
			planned++
		case t.Open():
			open++
		}
	}
	w.Emit(event.New(0, "", planStored{
		Planned: planned, Open: open, Stored: w.records, Journal: hex.EncodeToString(w.journal.Sum(nil)[:8]),
	}))
}

// checkResult checks the result against the stored records.
func (w *witness) checkResult(r persist.Result) {
	for _, t := range r.Tasks {
		if done := t.State == string(persist.Done); done != w.done[t.ID] {
			w.Report("task %s is %s in the result, and stored as done: %t", t.ID, t.State, w.done[t.ID])
		}
	}
}
