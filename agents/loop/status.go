package loop

import "github.com/rehearse-dev/rehearse/agents/internal/run"

// Status is how a run ended. It is text in JSON.
type Status = run.Status

// The statuses.
const (
	StatusDone          = run.Done
	StatusError         = run.Error
	StatusTimeout       = run.Timeout
	StatusMaxIterations = run.MaxIterations
	StatusNoProgress    = run.NoProgress
	StatusBlocked       = run.Blocked
	StatusBudget        = run.Budget
	StatusCapped        = run.Capped
	StatusLimited       = run.Limited
	StatusInterrupted   = run.Interrupted
)

// Statuses lists all statuses with their exit codes, which are stable.
func Statuses() []run.StatusInfo {
	return []run.StatusInfo{
		StatusDone.Info("the agent claims that the work is done, and the stop guard and all checks agree"),
		StatusError.Info("calls to the backend failed, or its circuit breaker gave up"),
		StatusTimeout.Info("the time limit of the run was reached"),
		StatusMaxIterations.Info("the iteration limit was reached"),
		StatusNoProgress.Info("answers or errors repeated themselves"),
		StatusBlocked.Info("the agent handed over to a person, or its permissions refused tool calls, which it repeats or passes over"),
		StatusBudget.Info("a cap on calls, tokens or cost was reached"),
		StatusCapped.Info("the stop guard or a check refused the completion more often than it may be continued"),
		StatusLimited.Info("the backend is at a usage limit, which ends at the time in details"),
		StatusInterrupted.Info("the user interrupted the run"),
	}
}
