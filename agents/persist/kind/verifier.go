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

// verifier checks invariants of a supervisor over all processes of a trial: a task that is stored as
// done is not attempted again, no task is lost, and a repeated attempt keeps its key.
type verifier struct {
	drive.Violations
	// done has the ids of the tasks that are stored as done.
	done map[string]bool
	// open has the keys of attempts without a stored outcome, by task.
	open map[string]string
	// checks counts the stored results of each check.
	checks map[plan.Check]int
	// accepted counts the stored results of the acceptance of each task.
	accepted map[string]int
	// records counts the stored records; journal hashes them without times and answers.
	records int
	journal hash.Hash
}

func newVerifier(sink event.Sink) *verifier {
	return &verifier{
		Violations: drive.Violations{Sink: sink}, journal: sha256.New(),
		done: map[string]bool{}, open: map[string]string{}, checks: map[plan.Check]int{}, accepted: map[string]int{},
	}
}

// wrapStore wraps a store so that each append is checked.
func (v *verifier) wrapStore(s journal.Store) journal.Store { return &verifiedStore{s, v} }

type verifiedStore struct {
	journal.Store
	verifier *verifier
}

// Append implements journal.Store.
func (w *verifiedStore) Append(records ...[]byte) error {
	if err := w.Store.Append(records...); err != nil {
		return err
	}
	for _, data := range records {
		w.verifier.stored(data)
	}
	return nil
}

// stored checks a stored record.
func (v *verifier) stored(data []byte) {
	r, err := state.Decode(data)
	v.hash(r)
	switch {
	case err != nil:
		v.Report("a record cannot be read: %v", err)
	case r.Kind != state.KindOutcome:
	default:
		delete(v.open, r.Task)
		if len(r.Outcome.Accept) > 0 {
			v.accepted[r.Task]++
		}
		if r.Outcome.Grade != string(persist.Done) {
			return
		}
		if v.done[r.Task] {
			v.Report("task %s is stored as done twice", r.Task)
		}
		v.done[r.Task] = true
	}
}

// wrapWorkers wraps workers so that each attempt is checked.
func (v *verifier) wrapWorkers(all map[string]persist.Worker) map[string]persist.Worker {
	seen := maps.Clone(all)
	for name, worker := range all {
		seen[name] = verifiedWorker{worker, v}
	}
	return seen
}

type verifiedWorker struct {
	persist.Worker
	verifier *verifier
}

// Work implements persist.Worker.
func (o verifiedWorker) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	w := o.verifier
	if w.done[a.Task.ID] {
		w.Report("task %s is done again after its end was stored", a.Task.ID)
	}
	if before, again := w.open[a.Task.ID]; again && before != a.Key {
		w.Report("task %s is begun anew with the key %s while the attempt %s has no outcome", a.Task.ID, a.Key, before)
	}
	w.open[a.Task.ID] = a.Key
	return o.Worker.Work(ctx, a)
}

// hash adds a record to the hash of the journal, without times, costs and answers, which differ when
// a call is repeated.
func (v *verifier) hash(r state.Record) {
	v.records++
	r.At = 0
	if r.Outcome != nil {
		r.Outcome.Answer, r.Outcome.Spent, r.Outcome.Used = "", state.Spent{}, nil
		for i := range r.Outcome.Accept {
			r.Outcome.Accept[i].Took = 0
		}
	}
	if r.End != nil {
		r.End.Spent, r.End.Used = state.Spent{}, nil
	}
	for i := range r.Results {
		v.checks[r.Results[i].Name]++
		r.Results[i].Took = 0
	}
	data, err := r.Encode()
	if err != nil {
		v.Report("a record cannot be written: %v", err)
	}
	_, _ = v.journal.Write(append(data, '\n')) // never fails
}

// close checks the result against the stored records and emits the open tasks.
func (v *verifier) close(r persist.Result) {
	v.checkResult(r)
	open, planned := 0, 0
	for _, t := range r.Tasks {
		switch {
		case t.State == string(persist.Done) && t.From == "":
			planned++
		case t.Open():
			open++
		}
	}
	v.Emit(event.New(0, "", planStored{
		Planned: planned, Open: open, Stored: v.records, Journal: hex.EncodeToString(v.journal.Sum(nil)[:8]),
	}))
}

// checkResult checks the result against the stored records.
func (v *verifier) checkResult(r persist.Result) {
	for _, t := range r.Tasks {
		if done := t.State == string(persist.Done); done != v.done[t.ID] {
			v.Report("task %s is %s in the result, and stored as done: %t", t.ID, t.State, v.done[t.ID])
		}
	}
}
