package persist

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm/budget"
)

// saved is what a snapshot holds beside the state: what the records do not tell, as
// it depends on when a process was killed.
type saved struct {
	Checkpoints int `json:"checkpoints"`
	// Lost is time that was worked and that no record tells of.
	Lost time.Duration `json:"lost,omitempty"`
	// At is when the last checkpoint was made.
	At time.Duration `json:"at"`
	// Soft is the last segment in which one was made past the soft limit.
	Soft int `json:"soft,omitempty"`
}

// snapshot is the form of a snapshot in the store.
type snapshot struct {
	Saved saved           `json:"saved"`
	State json.RawMessage `json:"state"`
}

// The names of blobs in the store.
const (
	planBlob    = "plan.json"    // state.Fingerprint of the plan that was begun
	resumesBlob = "resumes.json" // how often it was gone on with
)

// loader is what of a store the state is read from.
type loader interface {
	Load(snapshot func(data []byte) error, record func(data []byte) error) (journal.Recovery, error)
}

// PlanChanged is the error of a plan whose tasks are not those that the state was
// begun with. Nothing is done then and nothing is written.
type PlanChanged struct {
	// Changed, Added and Removed are ids of tasks; Goal and Order say that those
	// changed.
	Changed, Added, Removed []string
	Goal, Order             bool
}

// Error says what changed and what to do.
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
	return text + "; take the old plan back, or begin on a state of its own"
}

// read folds what a store holds.
func read(p plan.Plan, from loader) (*state.State, saved, journal.Recovery, error) {
	s, err := state.New(p)
	if err != nil {
		return nil, saved{}, journal.Recovery{}, err
	}
	var kept saved
	found, err := from.Load(
		func(data []byte) error {
			var snap snapshot
			if err := json.Unmarshal(data, &snap); err != nil {
				return fmt.Errorf("reading the snapshot: %w", err)
			}
			restored, err := state.Restore(p, snap.State)
			if err != nil {
				if changed := changes(p, from); changed != nil {
					return changed
				}
				return err
			}
			s, kept = restored, snap.Saved
			return same(p, s, from)
		},
		func(data []byte) error {
			record, err := state.Decode(data)
			if err != nil {
				return err
			}
			if err := s.Apply(record); err != nil {
				return err
			}
			if record.Kind == state.KindBegin {
				return same(p, s, from)
			}
			return nil
		})
	if err != nil {
		return nil, saved{}, found, fmt.Errorf("reading the kept state: %w", err)
	}
	// What was worked between the last record and the last checkpoint.
	kept.Lost += max(0, kept.At-s.At)
	kept.At = s.At
	return s, kept, found, nil
}

// same returns an error if the state is not one of this plan.
func same(p plan.Plan, s *state.State, from loader) error {
	print, err := state.FingerprintOf(p)
	if err != nil || s.Plan == "" || s.Plan == print.Digest() {
		return err
	}
	if changed := changes(p, from); changed != nil {
		return changed
	}
	return &PlanChanged{}
}

// changes says how a plan differs from the one that was begun, where the store tells.
func changes(p plan.Plan, from loader) error {
	reader, ok := from.(interface {
		Read(name string) ([]byte, error)
	})
	if !ok {
		return nil
	}
	now, err := state.FingerprintOf(p)
	data, errRead := reader.Read(planBlob)
	var then state.Fingerprint
	if err != nil || errRead != nil || json.Unmarshal(data, &then) != nil || then.Digest() == now.Digest() {
		return nil
	}
	e := &PlanChanged{Goal: then.Goal != now.Goal}
	e.Changed, e.Added, e.Removed, e.Order = then.Changes(now)
	return e
}

// load takes the state from the store, or begins it.
func (r *run) load() *ending {
	s, kept, found, err := read(r.plan, r.Store)
	if err != nil {
		return failure("the run cannot go on", err)
	}
	r.state, r.saved, r.base = s, kept, s.At
	if s.End != nil && s.End.Status == string(StatusComplete) {
		return &ending{status: StatusComplete, guard: s.End.Guard, details: s.End.Details, kept: true}
	}
	r.Budget.Restore(budget.Spent(s.Spent))
	switch {
	case !s.Begun():
		err = r.begin()
	default:
		err = r.resume(found)
	}
	if err != nil {
		return r.keepFailure(err)
	}
	return nil
}

// begin writes what plan the state is of.
func (r *run) begin() error {
	print, err := state.FingerprintOf(r.plan)
	if err != nil {
		return err
	}
	data, err := json.Marshal(print)
	if err != nil {
		return err
	}
	if err := r.Store.Save(planBlob, data); err != nil {
		return err
	}
	return r.put(state.Record{Kind: state.KindBegin, Plan: print.Digest()})
}

// resume counts and tells that a run goes on, and takes back its end.
func (r *run) resume(found journal.Recovery) error {
	n, err := resumes(r.Store)
	if err != nil {
		return err
	}
	if err := r.Store.Save(resumesBlob, fmt.Appendf(nil, "%d", n+1)); err != nil {
		return err
	}
	r.tell(event.Event{Kind: event.State, Name: "resume", N: n + 1, Detail: found.SnapshotLost, Attrs: map[string]any{
		"records": found.Records, "replayed": found.Replayed, "torn": found.Torn,
	}})
	if r.state.End == nil {
		return nil
	}
	return r.put(state.Record{Kind: state.KindReopen})
}

// resumes is how often a run was gone on with.
func resumes(from interface {
	Read(name string) ([]byte, error)
}) (n int, err error) {
	data, err := from.Read(resumesBlob)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(data, &n); err != nil {
		return 0, fmt.Errorf("reading %s: %w", resumesBlob, err)
	}
	return n, nil
}

// put applies a record and keeps it for the next flush.
func (r *run) put(record state.Record) error {
	record.At = r.now()
	data, err := record.Encode()
	if err != nil {
		return err
	}
	if err := r.state.Apply(record); err != nil {
		return err
	}
	r.pending = append(r.pending, data)
	return nil
}

// flush writes the records that were put, all or none of them.
func (r *run) flush() error {
	if len(r.pending) == 0 {
		return nil
	}
	if err := r.Store.Append(r.pending...); err != nil {
		return err
	}
	clear(r.pending)
	r.pending = r.pending[:0]
	return nil
}

// checkpoint makes a snapshot of the state, and tells why.
func (r *run) checkpoint(why string) error {
	if err := r.flush(); err != nil {
		return err
	}
	next := r.saved
	next.Checkpoints++
	next.At = r.now()
	if r.calls() >= r.limits.SoftCalls {
		next.Soft = r.state.Segment
	}
	data, err := r.state.Snapshot()
	if err != nil {
		return err
	}
	if data, err = json.Marshal(snapshot{next, data}); err != nil {
		return err
	}
	if err := r.Store.Checkpoint(data); err != nil {
		return fmt.Errorf("making the checkpoint %q: %w", why, err)
	}
	r.saved = next
	r.tell(event.Event{Kind: event.Checkpoint, Name: why, N: next.Checkpoints, Attrs: map[string]any{"records": r.records()}})
	return nil
}

// records is about how many records the journal has: those that the state tells of.
func (r *run) records() int {
	c := r.state.Counts
	n := 1 + 2*c.Attempts + c.Checks + c.Rounds + r.state.Segment - 1
	if r.state.Running >= 0 {
		n--
	}
	return n
}

// keepAlive makes a checkpoint each time that the last one is old, also while a
// task runs.
func (r *run) keepAlive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saved.At = r.now()
	var stop func()
	var arm func(time.Duration)
	fire := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.closed || r.broken != nil {
			return
		}
		if r.due() {
			if err := r.checkpoint("interval"); err != nil {
				r.broke(err)
				return
			}
		}
		arm(r.saved.At + r.limits.SaveEvery.Std() - r.now())
	}
	arm = func(d time.Duration) { stop = r.Clock.AfterFunc(d, fire) }
	arm(r.limits.SaveEvery.Std())
	r.stops = append(r.stops, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		stop()
	})
}

// due reports whether it is time for a checkpoint.
func (r *run) due() bool { return r.now()-r.saved.At >= r.limits.SaveEvery.Std() }

// broke ends the run as the state cannot be kept.
func (r *run) broke(err error) {
	r.broken = err
	r.cancel(err)
}
