package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/llm"
)

// The names of blobs in the store.
const (
	planBlob    = "plan.json"    // the fingerprint of the plan that was begun
	resumesBlob = "resumes.json" // the number of resumptions
)

// reader is the common part of journal.Store and journal.Viewer.
type reader interface {
	Load(snapshot func(data []byte) error, record func(data []byte) error) (journal.Recovery, error)
	Read(name string) ([]byte, error)
}

// PlanChanged is the error for a plan that differs from the plan of the stored state. Then nothing is
// executed or written.
type PlanChanged struct {
	// Changed, Added and Removed are ids of tasks. Goal and Order are true if the goal or the
	// order of the tasks changed.
	Changed, Added, Removed []string
	Goal, Order             bool
}

// Error lists the changes.
func (e *PlanChanged) Error() string {
	var parts []string
	for _, p := range []struct {
		what string
		ids  []string
	}{{"changed", e.Changed}, {"new", e.Added}, {"gone", e.Removed}} {
		if n := len(p.ids); n > 0 {
			const most = 5
			text := strings.Join(p.ids[:min(n, most)], ", ")
			if n > most {
				text += fmt.Sprintf(" and %d more", n-most)
			}
			parts = append(parts, p.what+": "+text)
		}
	}
	if e.Goal {
		parts = append(parts, "the goal changed")
	}
	if e.Order {
		parts = append(parts, "the order of the tasks changed")
	}
	text := "the plan is not the one that this state was begun with"
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, "; ") + ")"
	}
	return text
}

// folding restores a state from a store. Records of another plan than those in plans are skipped until an
// amendment replaces it by one of them.
type folding struct {
	plans   map[string]plan.Plan // by digest
	print   fingerprint          // of the current plan
	from    reader
	state   *state.State
	saved   saved
	foreign error // the PlanChanged of the records that are skipped
	// learn is called with the stored plan of an amendment, if it is set.
	learn func(digest string, stored []byte)
}

// fold restores the state of a plan from a store.
func fold(p plan.Plan, from reader) (*folding, journal.Recovery, error) {
	print, err := fingerprintOf(p)
	if err != nil {
		return nil, journal.Recovery{}, err
	}
	f := &folding{plans: map[string]plan.Plan{print.digest(): p}, print: print, from: from}
	found, err := f.load(p)
	return f, found, err
}

// load loads the store. Without records, the state is that of the plan p.
func (f *folding) load(p plan.Plan) (found journal.Recovery, err error) {
	if f.state, err = state.New(p); err != nil {
		return found, err
	}
	found, err = f.from.Load(f.snapshot, f.record)
	if err == nil {
		err = f.foreign
	}
	if err != nil {
		return found, fmt.Errorf("reading the stored state: %w", err)
	}
	if !f.state.Begun() && found.SnapshotLost != "" {
		return found, fmt.Errorf("reading the stored state: %w: the journal is empty, and there is a snapshot of it (%s); "+
			"restore the journal, or begin with another state", journal.ErrCorrupt, found.SnapshotLost)
	}
	// Add the time between the last record and the last checkpoint.
	f.saved.Lost += max(0, f.saved.At-f.state.At)
	return found, nil
}

func (f *folding) snapshot(data []byte) error {
	var stored snapshot
	if err := json.Unmarshal(data, &stored); err != nil {
		return fmt.Errorf("reading the snapshot: %w", err)
	}
	f.saved = stored.Saved
	p, known := f.choose(stored.Plan)
	if !known {
		return nil
	}
	s, err := state.Restore(p, stored.State)
	f.state = s
	return err
}

func (f *folding) record(data []byte) error {
	record, err := state.Decode(data)
	if err != nil {
		return err
	}
	if record.Kind == state.KindBegin || record.Kind == state.KindAmend {
		if err := f.turn(record); err != nil {
			return err
		}
	}
	if f.skips() {
		return nil
	}
	return f.state.Apply(record)
}

// turn changes to the plan of a record that begins or amends it.
func (f *folding) turn(record state.Record) (err error) {
	if f.learn != nil && record.Amended != nil {
		f.learn(record.Plan, record.Amended.Tasks)
	}
	if p, known := f.choose(record.Plan); known {
		f.state, err = state.New(p)
	}
	return err
}

// skips reports whether the records are those of another plan.
func (f *folding) skips() bool { return f.foreign != nil }

// choose returns the plan with a digest. If there is none, the records from here on are skipped.
func (f *folding) choose(digest string) (plan.Plan, bool) {
	p, known := f.plans[digest]
	if known {
		f.foreign = nil
		return p, true
	}
	data, err := f.from.Read(planBlob)
	var stored fingerprint
	if err != nil || json.Unmarshal(data, &stored) != nil || stored.digest() != digest {
		f.foreign = &PlanChanged{} // the changes are unknown
	} else {
		f.foreign = stored.changes(f.print)
	}
	return plan.Plan{}, false
}

// load restores the state from the store, or begins a new one.
func (r *supervisor) load() *ending {
	f, found, err := fold(r.plan, r.Store)
	if err != nil {
		return failure("the run cannot continue", err)
	}
	if r.resumed, err = resumes(r.Store); err != nil {
		return failure("the run cannot continue", err)
	}
	if r.written, err = f.state.Clone(); err != nil {
		return failure("the run cannot continue", err)
	}
	r.state, r.saved, r.base, r.print = f.state, f.saved, f.state.At, f.print
	if end := r.state.End; end != nil && end.Status == string(StatusComplete) {
		return &ending{endingOf(*end), true}
	}
	if inAttempt(r.state) {
		r.cutOff = &unknownUse
	}
	for _, i := range inParallel(r.state) {
		r.forks.killed[r.taskID(i)] = true
	}
	r.Budget.Restore(llm.Spent(r.state.Spent))
	if r.state.Begun() {
		err = r.resume(found, f.print)
	} else {
		err = r.begin(f.print)
	}
	if err != nil {
		return r.saveFailure(err)
	}
	return nil
}

// inAttempt reports whether an attempt in the plan's folder is in progress, or was when its process was killed.
func inAttempt(s *state.State) bool {
	_, ended := s.AttemptAt(s.Running)
	return s.Running >= 0 && !ended && s.Reported == nil && s.End == nil
}

// inParallel returns the tasks whose parallel attempts are in progress, or were when their process was killed.
func inParallel(s *state.State) (tasks []int) {
	for _, a := range s.Parallel {
		if a.Outcome == nil && s.End == nil {
			tasks = append(tasks, a.Task)
		}
	}
	return tasks
}

// unknownUse is the usage of an attempt in which a process was killed.
var unknownUse = Used{TokensUnknown: killedInAttempt, CostUnknown: killedInAttempt}

const killedInAttempt = "a process was killed during an attempt"

// begin stores the fingerprint of the plan.
func (r *supervisor) begin(print fingerprint) error {
	data, err := json.Marshal(print)
	if err != nil {
		return err
	}
	if err := r.Store.Save(planBlob, data); err != nil {
		return err
	}
	return r.put(state.Record{Kind: state.KindBegin, Plan: print.digest()})
}

// resume counts and emits the resumption, and reopens a run that ended. It stores the structure of the plan
// if an earlier version or a crash left another one.
func (r *supervisor) resume(found journal.Recovery, print fingerprint) error {
	if err := savePrint(r.Store, print); err != nil {
		return err
	}
	if err := r.Store.Save(resumesBlob, fmt.Appendf(nil, "%d", r.resumed+1)); err != nil {
		return err
	}
	r.resumed++
	r.emit(r.resumed, snapshotLost(found), Resumed{Records: found.Records, Replayed: found.Replayed, Torn: found.Torn})
	if r.state.End == nil {
		return nil
	}
	return r.put(state.Record{Kind: state.KindReopen})
}

// savePrint stores the fingerprint of the plan, unless it is stored already.
func savePrint(store journal.Store, print fingerprint) error {
	data, err := json.Marshal(print)
	if err != nil {
		return err
	}
	if before, err := store.Read(planBlob); err == nil && bytes.Equal(before, data) {
		return nil
	}
	return store.Save(planBlob, data)
}

// snapshotLost explains why the snapshot could not be used; empty if it could.
func snapshotLost(found journal.Recovery) string {
	if found.SnapshotLost == "" {
		return ""
	}
	return "the snapshot could not be used, so the whole journal was read: " + found.SnapshotLost
}

// resumes returns the number of resumptions of the run.
func resumes(from reader) (n int, err error) {
	data, err := from.Read(resumesBlob)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err == nil:
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		return 0, fmt.Errorf("reading how often the run was resumed: %w", err)
	}
	return n, nil
}
