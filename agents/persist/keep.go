package persist

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// saved is the part of a snapshot that the records do not have, because it depends on the times at
// which processes were killed.
type saved struct {
	Checkpoints int `json:"checkpoints"`
	// Lost is the working time that the records lack.
	Lost time.Duration `json:"lost,omitempty"`
	// At is the time of the last checkpoint.
	At time.Duration `json:"at"`
	// Soft is the last segment with a checkpoint after its soft limit.
	Soft int `json:"soft,omitempty"`
	// Contexts counts how often the list of files in context was saved.
	Contexts int `json:"contexts,omitempty"`
}

// snapshot is the form of a snapshot in the store.
type snapshot struct {
	Plan  string          `json:"plan"` // its digest
	Saved saved           `json:"saved"`
	State json.RawMessage `json:"state,omitempty"`
}

// put applies a record and adds it to the next flush.
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
	r.pendingRecords = append(r.pendingRecords, record)
	return nil
}

// flush writes all pending records in one append.
func (r *supervisor) flush() error {
	if len(r.pending) == 0 {
		return nil
	}
	if err := r.Store.Append(r.pending...); err != nil {
		return err
	}
	clear(r.pending)
	r.pending = r.pending[:0]
	for _, record := range r.pendingRecords {
		if err := r.written.Apply(record); err != nil {
			return err
		}
	}
	clear(r.pendingRecords)
	r.pendingRecords = r.pendingRecords[:0]
	return nil
}

// checkpoint saves a snapshot of the state.
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
	// json.Marshal would parse the whole state again.
	data = slices.Concat(head[:len(head)-1], []byte(`,"state":`), data, []byte("}"))
	if err := r.Store.Checkpoint(data); err != nil {
		return fmt.Errorf("making the checkpoint %q: %w", why, err)
	}
	r.saved = next
	r.emit(next.Checkpoints, "", Checkpointed{Why: why, Records: r.state.Records})
	return nil
}

// keepAlive starts the timer for checkpoints, which are also saved during a task.
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
		if r.checkpointDue() {
			if err := r.checkpoint("interval"); err != nil {
				r.fail(err)
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

func (r *supervisor) checkpointDue() bool { return r.now()-r.saved.At >= r.limits.SaveEvery.Std() }

// fail ends the run because the state cannot be saved.
func (r *supervisor) fail(err error) {
	r.broken = err
	r.cancel(err)
}
