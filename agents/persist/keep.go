package persist

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// saved is what a snapshot holds beside the state: what the records do not tell, as
// it depends on when a process was killed.
type saved struct {
	Checkpoints int `json:"checkpoints"`
	// Lost is time that was worked and that no record reports.
	Lost time.Duration `json:"lost,omitempty"`
	// At is when the last checkpoint was made.
	At time.Duration `json:"at"`
	// Soft is the last segment in which one was made past the soft limit.
	Soft int `json:"soft,omitempty"`
	// Contexts counts how often the files in context were saved.
	Contexts int `json:"contexts,omitempty"`
}

// snapshot is the form of a snapshot in the store.
type snapshot struct {
	Plan  string          `json:"plan"` // its digest
	Saved saved           `json:"saved"`
	State json.RawMessage `json:"state,omitempty"`
}

// put applies a record and keeps it for the next flush.
func (r *supervisor) put(record state.Record) error {
	record.At = r.now()
	data, err := record.Encode()
	if err != nil {
		return err
	}
	if err := r.state.Apply(record); err != nil {
		return err
	}
	r.pending = append(r.pending, data)
	r.unkept = append(r.unkept, record)
	return nil
}

// flush writes the records that were put, all or none of them.
func (r *supervisor) flush() error {
	if len(r.pending) == 0 {
		return nil
	}
	if err := r.Store.Append(r.pending...); err != nil {
		return err
	}
	clear(r.pending)
	r.pending = r.pending[:0]
	for _, record := range r.unkept {
		if err := r.kept.Apply(record); err != nil {
			return err
		}
	}
	clear(r.unkept)
	r.unkept = r.unkept[:0]
	return nil
}

// checkpoint makes a snapshot of the state, and tells why.
func (r *supervisor) checkpoint(why string) error {
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
	head, err := json.Marshal(snapshot{Plan: r.state.Plan, Saved: next})
	if err != nil {
		return err
	}
	// The state is JSON already; Marshal would go through all of it again.
	data = slices.Concat(head[:len(head)-1], []byte(`,"state":`), data, []byte("}"))
	if err := r.Store.Checkpoint(data); err != nil {
		return fmt.Errorf("making the checkpoint %q: %w", why, err)
	}
	r.saved = next
	r.emit(next.Checkpoints, "", Checkpointed{Why: why, Records: r.state.Records})
	return nil
}

// keepAlive makes a checkpoint each time that the last one is old, also while a
// task runs.
func (r *supervisor) keepAlive() {
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
func (r *supervisor) due() bool { return r.now()-r.saved.At >= r.limits.SaveEvery.Std() }

// broke ends the run as the state cannot be kept.
func (r *supervisor) broke(err error) {
	r.broken = err
	r.cancel(err)
}
