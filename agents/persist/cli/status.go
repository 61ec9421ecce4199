package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
)

// Standing is where a plan stands.
type Standing struct {
	persist.Result
	running bool // a process works on it
	pid     int  // of that process; 0: not known
}

// Standing returns where the plan stands, without touching its state. A plan without a state
// has not begun.
func (j *Job) Standing() (Standing, error) {
	view, err := journal.View(j.State)
	if errors.Is(err, fs.ErrNotExist) {
		return j.unbegun()
	}
	if err != nil {
		return Standing{}, stateError(fmt.Errorf("%w; name another folder with --state", err))
	}
	defer func() { _ = view.Close() }() // it was only read
	var s Standing
	s.pid, s.running = view.Owner()
	s.Result, err = persist.Look(j.Plan, view)
	if changed, ok := errors.AsType[*persist.PlanChanged](err); ok {
		return s, j.explainChange(changed)
	}
	if err != nil {
		return s, stateError(fmt.Errorf("%w; --fresh begins anew and keeps this state aside", err))
	}
	return s, nil
}

// unbegun returns where the plan stands before anything was done.
func (j *Job) unbegun() (s Standing, err error) {
	s.Result, err = persist.Look(j.Plan, journal.NewMemory())
	return s, err
}

// Activity returns who works on the state and when it was last written; empty if the plan
// has ended.
func (j *Job) Activity(s Standing) string {
	if !s.running && s.Status != "" {
		return ""
	}
	by := "no process works on it now"
	switch {
	case s.running && s.pid > 0:
		by = fmt.Sprintf("process %d works on it now", s.pid)
	case s.running:
		by = "a process works on it now"
	}
	return by + lastWritten(j.State)
}

// lastWritten returns when a state was last written; empty if it never was.
func lastWritten(state string) string {
	var last time.Time
	entries, _ := os.ReadDir(state) // there may be none
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	if last.IsZero() {
		return ""
	}
	return fmt.Sprintf("; last kept %s, %s ago", last.Format(time.DateTime), ago(last))
}
