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

// processes is what Status found out about the processes of a plan.
type processes struct {
	begun, running bool
}

// Status returns the state of the plan and the process that works on it, without changing the state.
// The activity is empty if the plan has ended.
func (j *Job) Status() (result persist.Result, activity string, err error) {
	view, err := journal.View(j.State)
	if errors.Is(err, fs.ErrNotExist) {
		j.seen = processes{}
		result, err = j.unbegun()
		return result, j.describeActivity(0, false), err
	}
	if err != nil {
		return result, "", stateError(fmt.Errorf("%w; name another folder with --state", err))
	}
	defer func() { _ = view.Close() }() // it was only read
	pid, running := view.Owner()
	j.seen = processes{begun: true, running: running}
	result, err = persist.Look(j.Plan, view)
	result = j.withTranscripts(result)
	if changed, ok := errors.AsType[*persist.PlanChanged](err); ok {
		return result, "", j.explainChange(changed)
	}
	if err != nil {
		return result, "", stateError(fmt.Errorf("%w; --fresh begins again and keeps this state in another folder", err))
	}
	if !running && result.Status != "" {
		return result, "", nil
	}
	return result, j.describeActivity(pid, running), nil
}

// unbegun returns the status of a plan that has not begun.
func (j *Job) unbegun() (persist.Result, error) { return persist.Look(j.Plan, journal.NewMemory()) }

// describeActivity describes which process works on the state and when it was last written. A pid of
// 0 is unknown.
func (j *Job) describeActivity(pid int, running bool) string {
	by := "no process works on it now"
	switch {
	case running && pid > 0:
		by = fmt.Sprintf("process %d works on it now", pid)
	case running:
		by = "a process works on it now"
	}
	return by + j.lastWritten()
}

// lastWritten describes the time of the last change of the state; empty if there was none.
func (j *Job) lastWritten() string {
	var last time.Time
	entries, _ := os.ReadDir(j.State) // there may be none
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	if last.IsZero() {
		return ""
	}
	return fmt.Sprintf("; last saved %s, %s ago", last.Format(time.DateTime), j.clock.Now().Sub(last).Round(time.Second))
}
