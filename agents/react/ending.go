package react

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// ending is the end of an agent's run; nil if it continues.
type ending struct {
	run.Ending
	agent    string // the agent that ended
	reported bool   // its guard and its question were emitted

	output       string
	value        json.RawMessage
	verification *step.Verification
	missing      []string // of done_partial
	trigger      Trigger  // of escalate
	question     string   // of escalate
	to           string   // of delegate: an agent that is not in Deps.Agents
}

// toEnding returns end as the ending of an agent; nil for nil.
func toEnding(end *run.Ending) *ending {
	if end == nil {
		return nil
	}
	return &ending{Ending: *end}
}

// fatal reports whether the end of an agent that was delegated to ends the whole run.
func (e *ending) fatal() bool {
	switch e.Status {
	case StatusInterrupted, StatusBudget, StatusTimeout, statusStopped:
		return true
	default:
		return false
	}
}

// statusStopped is the status of a run that Deps.Before or a panic ended; a Result has
// StatusError instead.
const statusStopped Status = "stopped"

func (e *ending) result() Result {
	status := e.Status
	if status == statusStopped {
		status = StatusError
	}
	return Result{
		Status: status, ExitCode: status.ExitCode(), Agent: e.agent, Output: e.output, Value: e.value,
		Trigger: e.trigger, Question: e.question, Missing: e.missing, Next: e.next(), Details: e.Details,
		Guard: e.Guard, Verification: e.verification, Verified: e.verification != nil && e.verification.Verified(), Err: e.Err,
	}
}

// next recommends the next action, by the table of end states of document 003.
func (e *ending) next() string {
	switch e.Status {
	case StatusDone:
		return "Hand the final output on."
	case StatusPartial:
		return "Use the partial output, and see to what is missing: " + cmp.Or(strings.Join(e.missing, "; "), "the agent did not say") + "."
	case StatusEscalate:
		return "Let a person answer, then run the agent again with the answer: " + e.question
	case StatusDelegate:
		return "Hand the task over to the agent " + e.to + ", which is not here."
	case StatusBlocked:
		return "Remove what blocks the agent, then run it again: " + e.Details
	case StatusBudget, StatusTimeout:
		return "Raise the limit " + cmp.Or(e.Guard, "of the caller") + " or make the task smaller, then run the agent again."
	case StatusInterrupted:
		return "Run the agent again when it suits."
	default:
		return "Mend the error, then run the agent again: " + e.Details
	}
}
