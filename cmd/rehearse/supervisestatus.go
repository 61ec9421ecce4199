package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
)

// standingOf is where a plan stands, without touching its state. With fresh, and
// where there is no state, it is a plan that has not begun.
func standingOf(s site, fresh bool) (persist.Result, error) {
	standing, _, err := look(s, fresh)
	return standing, err
}

// owner is the process that works on a state.
type owner struct {
	pid     int // 0: not known
	running bool
}

func look(s site, fresh bool) (persist.Result, owner, error) {
	view, err := journal.View(s.state)
	if fresh || errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			_ = view.Close() // it was only read
		}
		standing, err := persist.Look(s.plan, journal.NewMemory())
		return standing, owner{}, err
	}
	if err != nil {
		return persist.Result{}, owner{}, stateError(fmt.Errorf("%w; name another folder with --state", err))
	}
	defer func() { _ = view.Close() }()
	var by owner
	by.pid, by.running = view.Owner()
	standing, err := persist.Look(s.plan, view)
	if changed, ok := errors.AsType[*persist.PlanChanged](err); ok {
		return standing, by, explainChange(changed, s)
	}
	if err != nil {
		return standing, by, stateError(fmt.Errorf("%w; --fresh begins anew and keeps this state aside", err))
	}
	return standing, by, nil
}

// superviseStatus tells where a plan stands.
func (a *app) superviseStatus(s site, asJSON bool) error {
	standing, by, err := look(s, false)
	if err != nil {
		return err
	}
	if err := a.showSupervised(standing, s, asJSON); err != nil {
		return &exitError{persist.StatusError.ExitCode(), err}
	}
	if by.running || standing.Status == "" {
		fmt.Fprintf(a.stderr, "%s%s\n", by, lastWritten(s.state))
	}
	return nil
}

// String says who works on a state.
func (o owner) String() string {
	switch {
	case o.running && o.pid > 0:
		return fmt.Sprintf("process %d works on it now", o.pid)
	case o.running:
		return "a process works on it now"
	}
	return "no process works on it now"
}

// lastWritten says when something was last kept in a state; empty if nothing was.
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
