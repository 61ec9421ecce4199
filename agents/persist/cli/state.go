package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
)

// openState opens and locks the state folder. With fresh, it moves an earlier state to another folder
// first.
func (j *Job) openState(fresh bool, notes io.Writer) (*journal.Disk, error) {
	if err := j.Prepare(); err != nil {
		return nil, err
	}
	_, err := os.Stat(j.State)
	store, opening := journal.Open(j.State, 1)
	if opening != nil {
		return nil, stateError(opening)
	}
	if !fresh || errors.Is(err, fs.ErrNotExist) {
		return store, nil
	}
	aside := strings.TrimRight(j.State, `/\`) + "." + j.clock.Now().UTC().Format("20060102-150405.000")
	// The folder is locked, so no other process opens it meanwhile.
	if err := errors.Join(os.Rename(j.State, aside), store.Close()); err != nil {
		return nil, stateError(fmt.Errorf("move the old state: %w; choose another folder with --state", err))
	}
	fmt.Fprintf(notes, "the old state is kept in %s\n", aside)
	if store, err = journal.Open(j.State, 1); err != nil {
		return nil, stateError(err)
	}
	return store, nil
}

// Prepare creates the default folder for states, which git ignores. Run does it, too.
func (j *Job) Prepare() error {
	if !j.beside {
		return nil
	}
	if err := atomicdir.Ignore(filepath.Join(j.Folder, hiddenFolder)); err != nil {
		return stateError(fmt.Errorf("%w; choose another folder for the state with --state", err))
	}
	return nil
}

// StateError is the error for a state that cannot be read or saved.
type StateError struct{ error }

// Unwrap returns the cause.
func (e *StateError) Unwrap() error { return e.error }

// stateError returns a StateError, unless another process has locked the state.
func stateError(err error) error {
	if errors.Is(err, journal.ErrBusy) {
		return fmt.Errorf("%w; wait for it, end it, or name another folder with --state", err)
	}
	return &StateError{err}
}

// explainChange returns the error for a state that belongs to another plan.
func (j *Job) explainChange(changed *persist.PlanChanged) error {
	return fmt.Errorf("%s is not the plan of the state in %s: %w; "+
		"record the change with --amend, or begin again with --fresh, which keeps that state in another folder, "+
		"or name another folder with --state", j.File, j.State, changed)
}
