package state

import (
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// Sign is a sign that a run may stop too early.
type Sign string

// The signs.
const (
	shortRun            Sign = "short-run"            // little time has passed, and tasks are waiting
	todosUnchecked      Sign = "todos-unchecked"      // no full check found all todos done
	validationMissing   Sign = "validation-missing"   // no full check included the validation
	iterationIncomplete Sign = "iteration-incomplete" // a check fails that work can fix
	pendingTasks        Sign = "pending-tasks"        // tasks are waiting
	refusedStop         Sign = "stop-guard"           // an answer announces work that is not done
)

// Severity returns the severity of the sign. A run with any sign is not complete.
func (s Sign) Severity() string {
	switch s {
	case todosUnchecked, validationMissing, refusedStop:
		return "critical"
	default:
		return "high"
	}
}

// Look returns the signs at a time of the run.
func (s *State) Look(at time.Duration) []Sign {
	left := s.tasks.stages[stageWaiting] > 0
	var signs []Sign
	for _, c := range []struct {
		sign Sign
		seen bool
	}{
		{shortRun, left && at < s.limits.ShortRun.Std()},
		{todosUnchecked, !s.found(plan.CheckTodos, plan.Pass, plan.None)},
		{validationMissing, !s.found(plan.CheckValidation, plan.Pass, plan.Fail, plan.None)},
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
func (s *State) found(name plan.Check, verdicts ...plan.Verdict) bool {
	return slices.ContainsFunc(s.Results, func(c plan.CheckResult) bool {
		return c.Name == name && slices.Contains(verdicts, c.Verdict)
	})
}

// Meaning describes the sign for a person.
func (s Sign) Meaning() string {
	switch s {
	case shortRun:
		return "little time has passed, and tasks are left"
	case todosUnchecked:
		return "no check has found all todos done yet"
	case validationMissing:
		return "the validation has not run yet"
	case iterationIncomplete:
		return "a check fails that work can fix"
	case pendingTasks:
		return "tasks are waiting"
	case refusedStop:
		return "an answer announces work that is not done"
	}
	return string(s)
}
