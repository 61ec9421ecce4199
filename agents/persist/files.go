package persist

import (
	"cmp"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
)

// keepFiles saves the workers' files after a task that is done, and lets them be restored after a failed
// attempt. The other grades, and failures that do not count, leave work in progress. The caller
// holds the lock, which is released meanwhile. The ending is nil unless the files could not be kept.
func (r *supervisor) keepFiles(t state.Task, o *state.Outcome) *ending {
	why := ""
	switch {
	case r.inFork(t):
		return r.keepFork(t, o)
	case r.Checkpoint == nil:
		return nil
	case o.Grade == string(Done):
	case o.Grade == string(Failed) && !o.Later:
		why = cmp.Or(o.Details, "the attempt failed")
	default:
		return nil
	}
	r.mu.Unlock()
	e, err := r.Checkpoint(r.ctx, t.ID, t.Attempts, why)
	r.mu.Lock()
	if err != nil {
		return failure("the files of the task "+t.ID+" could not be kept", err)
	}
	noteRollback(e, o)
	if e.Kind != "" {
		e.N = t.Attempts
		r.Sink.Emit(e)
	}
	return nil
}

// noteRollback adds a rollback, if the event is one, to the details for the next attempt.
func noteRollback(e event.Event, o *state.Outcome) {
	if kept, ok := event.Read[worktree.Kept](&e); ok && kept.Undone != "" {
		o.Details = strings.TrimPrefix(o.Details+"; the files are as they were before the attempt", "; ")
	}
}
