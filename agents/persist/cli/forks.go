package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/event"
)

// forksFolder is the folder of the tasks' work trees in the folder of the state.
const forksFolder = "forks"

// forks implements persist.Forks with work trees of the plan's repository.
type forks struct {
	trees    *worktree.Forks
	rollback bool
	// place returns the workers and commands for a task in a folder.
	place func(task, folder string) (persist.Place, error)
}

// openForks returns the work trees of the plan's tasks, or nil if attempts are not made in parallel.
func (j *Job) openForks(f *files, o Options, place func(task, folder string) (persist.Place, error)) (persist.Forks, error) {
	if o.Parallel <= 1 {
		return nil, nil //nolint:nilnil // tasks are done in the plan's folder
	}
	trees, err := f.keeper.Forks(filepath.Join(j.State, forksFolder))
	if err != nil {
		return nil, err
	}
	f.forks = trees
	return &forks{trees: trees, rollback: o.Rollback, place: place}, nil
}

// Open implements persist.Forks.
func (f *forks) Open(ctx context.Context, task string) (persist.Place, error) {
	folder, err := f.trees.Open(ctx, task)
	if err != nil {
		return persist.Place{}, err
	}
	return f.place(task, folder)
}

// Refresh implements persist.Forks.
func (f *forks) Refresh(ctx context.Context, task string, attempt int) error {
	return f.explain(ctx, task, attempt, f.trees.Refresh(ctx, task))
}

// explain turns a conflict of work trees into a persist.Conflict, and sets the work on the task aside.
func (f *forks) explain(ctx context.Context, task string, attempt int, err error) error {
	conflict, ok := errors.AsType[*worktree.ConflictError](err)
	if !ok {
		return err
	}
	undone, err := f.trees.SetAside(ctx, task, describeAttempt(task, attempt)+", which has a conflict")
	if err != nil {
		return err
	}
	e := &persist.Conflict{Paths: conflict.Paths}
	if undone.Commit != "" {
		const shortID = 10
		e.Kept = fmt.Sprintf("commit %.*s", shortID, undone.Commit)
	}
	return e
}

func describeAttempt(task string, attempt int) string {
	return fmt.Sprintf("task %s, attempt %d", task, attempt)
}

// Merge implements persist.Forks.
func (f *forks) Merge(ctx context.Context, task string, attempt int) (event.Event, error) {
	kept, err := f.trees.Merge(ctx, task, describeAttempt(task, attempt))
	if err != nil || kept.IsZero() {
		return event.Event{}, f.explain(ctx, task, attempt, err)
	}
	return event.New(0, kept.String(), kept), nil
}

// Failed implements persist.Forks. With Rollback, the next attempt begins with the files of the plan's folder.
func (f *forks) Failed(ctx context.Context, task string, attempt int, _ string) (event.Event, error) {
	if !f.rollback {
		return event.Event{}, nil
	}
	undone, err := f.trees.SetAside(ctx, task, "before the rollback of "+describeAttempt(task, attempt))
	if err != nil || undone.Commit == "" {
		return event.Event{}, err
	}
	kept := f.trees.Undone(undone)
	return event.New(0, kept.String(), kept), nil
}

// Remove implements persist.Forks.
func (f *forks) Remove(ctx context.Context, keep func(task string) bool) error {
	return f.trees.Remove(ctx, keep)
}

// onePerson lets one worker at a time ask a person.
type onePerson struct {
	mu sync.Mutex
	react.Person
}

// Ask implements react.Person.
func (p *onePerson) Ask(ctx context.Context, question, about string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Person.Ask(ctx, question, about)
}
