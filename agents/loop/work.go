package loop

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
	"github.com/rehearse-dev/rehearse/event"
)

// Changes are the differences of files between two states.
type Changes = worktree.Changes

// Work is the state of the files that the agent works on.
type Work struct {
	// State is equal for equal files; empty if it is unknown.
	State string
	// Partial is true if State does not cover all files: they may change although it does not.
	Partial bool
	// Changes are the differences from the state that was read before; nil if unknown.
	Changes *Changes
}

// look reads the state of the files, if it is known. The context of the run may have ended, but what an
// interrupted call changed is of interest, too.
func (r *runner) look(n int) Work {
	if r.dep.Work == nil {
		return Work{}
	}
	w, err := r.dep.Work(context.WithoutCancel(r.Outer))
	if err != nil {
		r.dep.Work = nil
		r.dep.Sink.Emit(event.Event{Kind: event.State, Name: "files", N: n, Detail: fmt.Sprintf("changes are unknown from now on: %s", err)})
		return Work{}
	}
	return w
}

// lastWork returns the state of the files after the last iteration.
func (r *runner) lastWork() Work {
	e := r.result.Transcript[len(r.result.Transcript)-1]
	return Work{State: e.State, Partial: e.StatePartial, Changes: e.Changes}
}
