package state

import (
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist/check"
)

// Sign is a sign that a run is about to stop too early.
type Sign string

// The signs.
const (
	shortRun            Sign = "short-run"            // little time has passed, and tasks are left
	todosUnchecked      Sign = "todos-unchecked"      // no full check found the todos done
	validationMissing   Sign = "validation-missing"   // no full check could make the validation
	iterationIncomplete Sign = "iteration-incomplete" // a check fails that work can mend
	pendingTasks        Sign = "pending-tasks"        // tasks wait
	refusedStop         Sign = "stop-guard"           // an answer announces what is not done
)

// Severity returns how much a sign weighs. Each of them keeps the run from being complete.
func (s Sign) Severity() string {
	switch s {
	case todosUnchecked, validationMissing, refusedStop:
		return "critical"
	default:
		return "high"
	}
}

// Look returns the signs that there are at a time of the run.
func (s *State) Look(at time.Duration) []Sign {
	left := s.tasks.stages[stageWaiting] > 0
	var signs []Sign
	for _, c := range []struct {
		sign Sign
		seen bool
	}{
		{shortRun, left && at < s.limits.ShortRun.Std()},
		{todosUnchecked, !s.found(check.Todos, check.Pass, check.None)},
		{validationMissing, !s.found(check.Validation, check.Pass, check.Fail, check.None)},
		{iterationIncomplete, len(s.fixable()) > 0},
		{pendingTasks, left},
		{refusedStop, s.refused()},
	} {
		if c.seen {
			signs = append(signs, c.sign)
		}
	}
	return signs
}

// found reports whether the last result of a check has one of the verdicts.
func (s *State) found(name check.Name, verdicts ...check.Verdict) bool {
	return slices.ContainsFunc(s.Results, func(c check.Result) bool {
		return c.Name == name && slices.Contains(verdicts, c.Verdict)
	})
}

// Meaning says, for a person, what the sign is.
func (s Sign) Meaning() string {
	switch s {
	case shortRun:
		return "little time has passed, and tasks are left"
	case todosUnchecked:
		return "no check found the todos done yet"
	case validationMissing:
		return "the validation was not made yet"
	case iterationIncomplete:
		return "a check fails that work can mend"
	case pendingTasks:
		return "tasks wait"
	case refusedStop:
		return "an answer announces what is not done"
	}
	return string(s)
}
