package persist

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
)

// Forks provides a folder for the attempts at each task, with a copy of the files of the plan's folder, and
// merges it when the task is done. Its methods are called one at a time.
type Forks interface {
	// Open returns the folder of a task. It has the files of all tasks that are done and of earlier attempts
	// at the task. If both changed the same part of a file, the earlier attempts are set aside.
	Open(ctx context.Context, task string) (Place, error)
	// Refresh merges the work of other tasks into the folder of a task. A *Conflict means that its work was
	// set aside.
	Refresh(ctx context.Context, task string, attempt int) error
	// Merge merges the folder of a task that is done into the plan's folder, and returns the event to emit, if
	// its kind is not empty. Merging again after a crash changes nothing. Conflicts are reported as by Refresh.
	Merge(ctx context.Context, task string, attempt int) (event.Event, error)
	// Failed is called when an attempt failed, with the reason. It keeps the files or sets them aside.
	Failed(ctx context.Context, task string, attempt int, failure string) (event.Event, error)
	// Remove removes the folders of the tasks for which keep returns false, including folders of earlier
	// processes.
	Remove(ctx context.Context, keep func(task string) bool) error
}

// Place is the folder of a task.
type Place struct {
	// Workers are the workers of Deps, working in the folder.
	Workers map[string]Worker
	// Accept are the acceptance commands of the task, running in the folder.
	Accept []Probe
	// ReadFile reads a file of the folder; see Deps.ReadFile.
	ReadFile func(name string, most int) (data []byte, size int64, err error)
}

// fileReader is the type of Deps.ReadFile.
type fileReader = func(name string, most int) (data []byte, size int64, err error)

// Conflict is the error for work on a task that changed the same part of a file as other, merged work.
type Conflict struct {
	Paths []string
	// Kept describes where the work is now, such as "commit 0123abcd"; empty if it is lost.
	Kept string
}

// Error names the files.
func (e *Conflict) Error() string {
	const most = 5
	text := strings.Join(e.Paths[:min(len(e.Paths), most)], ", ")
	if more := len(e.Paths) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "a conflict with changes that were merged meanwhile: " + text
}

// conflicted returns the outcome of an attempt whose work could not be merged.
func (p *phrases) conflicted(o state.Outcome, e *Conflict) state.Outcome {
	o.Grade, o.Details, o.Inert = string(Failed), e.Error(), false
	o.Carry = p.conflict + strings.Join(e.Paths, "\n- ") + p.conflictFolder
	if e.Kept != "" {
		o.Carry += fmt.Sprintf(p.earlierWork, e.Kept)
	}
	o.Refused, o.Steps, o.Unjudged, o.Session = "", nil, "", nil // the files of the session are gone
	return o
}

// inFork reports whether the attempt in progress at a task was made in its own folder.
func (r *supervisor) inFork(t state.Task) bool {
	_, parallel := r.state.AttemptOf(t.ID)
	return parallel && r.Forks != nil
}

// open returns the folder of a task. The caller holds the lock, which is released meanwhile.
func (r *supervisor) open(t state.Task) (Place, error) {
	if place, known := r.forks.places[t.ID]; known {
		return place, nil
	}
	r.mu.Unlock()
	place, err := r.Forks.Open(r.ctx, t.ID)
	r.mu.Lock()
	if err != nil {
		return place, fmt.Errorf("open the work tree of the task %s: %w", t.ID, err)
	}
	r.forks.places[t.ID] = place
	return place, nil
}

// refresh merges the work of other tasks into the folder of a task, if it has one, so that its acceptance
// commands see all of it. A conflict changes the outcome.
func (r *supervisor) refresh(t state.Task, o *state.Outcome) *ending {
	if !r.inFork(t) {
		return nil
	}
	return r.inOpenFork(t, o, func(ctx context.Context) error { return r.Forks.Refresh(ctx, t.ID, t.Attempts) })
}

// inOpenFork opens the folder of a task and calls do without the lock. It returns the end of the run after an
// error, and changes the outcome after a conflict.
func (r *supervisor) inOpenFork(t state.Task, o *state.Outcome, do func(ctx context.Context) error) *ending {
	_, err := r.open(t)
	if err == nil {
		r.mu.Unlock()
		err = do(context.WithoutCancel(r.ctx))
		r.mu.Lock()
	}
	if conflict, ok := errors.AsType[*Conflict](err); ok {
		delete(r.forks.places, t.ID)
		*o = r.words.conflicted(*o, conflict)
		return nil
	}
	if err != nil {
		return failure("the files of the task "+t.ID+" could not be merged", err)
	}
	return nil
}

// keepFork merges the folder of a task that is done, and keeps or sets aside the folder of a failed attempt.
func (r *supervisor) keepFork(t state.Task, o *state.Outcome) *ending {
	failed := o.Grade == string(Failed) && !o.Later
	if o.Grade != string(Done) && !failed {
		return nil
	}
	var e event.Event
	end := r.inOpenFork(t, o, func(ctx context.Context) (err error) {
		if failed {
			e, err = r.Forks.Failed(ctx, t.ID, t.Attempts, o.Details)
		} else {
			e, err = r.Forks.Merge(ctx, t.ID, t.Attempts)
		}
		return err
	})
	delete(r.forks.places, t.ID)
	noteRollback(e, o)
	if end == nil && e.Kind != "" {
		e.N = t.Attempts
		r.Sink.Emit(e)
	}
	return end
}

// prepareForks removes the folders that earlier processes left and no task needs. Without Forks it returns an
// error if there are parallel attempts whose work is not merged.
func (r *supervisor) prepareForks() *ending {
	if r.Forks == nil {
		if n := len(r.state.Parallel); n > 0 {
			return failure("the run cannot continue", fmt.Errorf("%w: task %s", ErrParallel, r.taskID(r.state.Parallel[0].Task)))
		}
		return nil
	}
	if err := r.removeForks(); err != nil {
		return failure("the run cannot continue", err)
	}
	return nil
}

// ErrParallel is the error for a run without Forks whose state has parallel attempts.
var ErrParallel = errors.New("attempts of the run work in folders of their own, and their work is not merged yet")

// removeForks removes the folders of tasks that are over according to the store.
func (r *supervisor) removeForks() error {
	if r.Forks == nil || r.written == nil {
		return nil
	}
	needed := map[string]bool{}
	for _, t := range r.written.Tasks() {
		needed[t.ID] = !t.Over() || r.forks.live[t.ID] != nil
	}
	maps.DeleteFunc(r.forks.places, func(id string, _ Place) bool { return !needed[id] })
	return r.Forks.Remove(context.WithoutCancel(r.ctx), func(task string) bool { return needed[task] })
}

// emitLeftForks emits a warning if folders could not be removed at the end.
func (r *supervisor) emitLeftForks(err error) {
	if err != nil {
		r.emit(0, "work trees of tasks could not be removed: "+err.Error(), Guarded{"forks-left", ""})
	}
}

// forks is the part of a supervisor for parallel attempts.
type forks struct {
	live   map[string]*attempt // in progress, by the ids of the tasks
	places map[string]Place
	killed map[string]bool // ids of tasks with an attempt in which an earlier process was killed
	ended  chan struct{}   // receives a value after an attempt has ended
	capped *ending         // the end of the run, if an attempt used up the budget
	cut    []state.CutOff
}

func newForks() forks {
	return forks{live: map[string]*attempt{}, places: map[string]Place{}, killed: map[string]bool{}, ended: make(chan struct{}, 1)}
}
