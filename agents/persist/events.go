package persist

import (
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
)

// The events of a run. Further events are the verdicts of the stop guard, a guard with the name of
// the limit that ended the run, and a hand-over to a person.
type (
	// Attempted is the end of an attempt. From is the check that the task was derived from; empty
	// for tasks of the plan.
	Attempted struct {
		Attempt int        `json:"attempt"`
		Calls   int        `json:"calls"`
		From    plan.Check `json:"from"`
		Grade   string     `json:"grade"`
		ID      string     `json:"id"`
		Segment int        `json:"segment"`
	}
	// AttemptEnded is the end of a parallel attempt. Attempted follows, at once or, if Waits is true, when it
	// is the turn of the task.
	AttemptEnded struct {
		Attempt int    `json:"attempt"`
		Grade   string `json:"grade"`
		ID      string `json:"id"`
		Waits   bool   `json:"waits"`
	}
	// Accepted is the verdict of one acceptance command of a task.
	Accepted struct {
		Task    string       `json:"task"`
		Verdict plan.Verdict `json:"verdict"`
	}
	// Answered is the answer of a person to the question of a task.
	Answered struct {
		Task string `json:"task"`
	}
	// Amended is an amendment of the running plan, with the numbers of its changed tasks and of all Tasks.
	Amended struct {
		Added   int `json:"added"`
		Changed int `json:"changed"`
		Removed int `json:"removed"`
		Tasks   int `json:"tasks"`
	}
	// Checked is the verdict of one check, after the given round.
	Checked struct {
		Check   plan.Check   `json:"check"`
		Round   int          `json:"round"`
		Verdict plan.Verdict `json:"verdict"`
	}
	// ChecksMade counts the verdicts of checks that were made together.
	ChecksMade struct {
		Fail    int       `json:"fail"`
		None    int       `json:"none"`
		Pass    int       `json:"pass"`
		Unknown int       `json:"unknown"`
		Why     state.Why `json:"why"`
	}
	// SignSeen is a sign of a premature stop. Forced is true if the run continues because of it.
	SignSeen struct {
		Forced   bool       `json:"forced"`
		Severity string     `json:"severity"`
		Sign     state.Sign `json:"sign"`
	}
	// RoundBegun is the begin of a round. Checks are the failed checks, separated by commas.
	RoundBegun struct {
		Checks string `json:"checks"`
		Tasks  int    `json:"tasks"`
	}
	// Guarded is an intervention in the work on a task: retry, stagnation, no-progress,
	// soft-limit, segment or context-kept.
	Guarded struct {
		Name string `json:"-"`
		Task string `json:"task"`
	}
	// waited is a wait, in seconds, before the next attempt after an outage.
	waited struct {
		Task string `json:"task"`
		Wait int    `json:"wait"`
	}
	// Resumed is the resumption of a run from Records stored records. Replayed is the number of
	// records after the snapshot, Torn the number of bytes of an unfinished record.
	Resumed struct {
		Records  int `json:"records"`
		Replayed int `json:"replayed"`
		Torn     int `json:"torn"`
	}
	// ContextChanged is a change of the context to a number of Files.
	ContextChanged struct {
		Evicted  int `json:"evicted"`
		Files    int `json:"files"`
		Restored int `json:"restored"`
	}
	// Checkpointed is a checkpoint with the reason Why (interval, soft-limit, segment, context or
	// final) that covers a number of records, at least 1.
	Checkpointed struct {
		Why     string `json:"-"`
		Records int    `json:"records"`
	}
	// Ended is the end of a run.
	Ended struct {
		Status   Status `json:"-"`
		Done     int    `json:"done"`
		ExitCode int    `json:"exit_code"`
		Tasks    int    `json:"tasks"`
	}
)

// Event implements event.Payload.
func (Attempted) Event() (event.Kind, string) { return event.Iteration, "task" }

// Event implements event.Payload.
func (AttemptEnded) Event() (event.Kind, string) { return event.State, "attempt-ended" }

// Event implements event.Payload.
func (Accepted) Event() (event.Kind, string) { return event.Verdict, "accept" }

// Event implements event.Payload.
func (Answered) Event() (event.Kind, string) { return event.State, "answer" }

// Event implements event.Payload.
func (Amended) Event() (event.Kind, string) { return event.State, "amend" }

// Event implements event.Payload.
func (Checked) Event() (event.Kind, string) { return event.Verdict, "check" }

// Event implements event.Payload.
func (ChecksMade) Event() (event.Kind, string) { return event.Verdict, "checks" }

// Event implements event.Payload.
func (SignSeen) Event() (event.Kind, string) { return event.Guard, "sign" }

// Event implements event.Payload.
func (RoundBegun) Event() (event.Kind, string) { return event.Guard, "continuation" }

// Event implements event.Payload.
func (g Guarded) Event() (event.Kind, string) { return event.Guard, g.Name }

// Event implements event.Payload.
func (waited) Event() (event.Kind, string) { return event.Guard, "outage" }

// Event implements event.Payload.
func (Resumed) Event() (event.Kind, string) { return event.State, "resume" }

// Event implements event.Payload.
func (ContextChanged) Event() (event.Kind, string) { return event.State, "context" }

// Event implements event.Payload.
func (c Checkpointed) Event() (event.Kind, string) { return event.Checkpoint, c.Why }

// Event implements event.Payload.
func (e Ended) Event() (event.Kind, string) { return event.End, string(e.Status) }
