package interview

import "github.com/rehearse-dev/rehearse/event"

// The events of a service. Beside them, event.End reports a finished interview, and the guard
// "repeated", which has no attributes, a submission that had been received before.
type (
	// Submitted reports how a submission ended. Calls counts the calls that it made. Queued is
	// true if it was answered with a queued question, and Answered if it stored an answer. Step,
	// Phase, Kind and Question describe the message that is shown, and Code the error, if any.
	Submitted struct {
		Answered bool   `json:"answered"`
		Calls    int    `json:"calls"`
		Code     string `json:"code"`
		Kind     string `json:"kind"`
		Phase    string `json:"phase"`
		Question int    `json:"question"`
		Queued   bool   `json:"queued"`
		Repeated bool   `json:"repeated"`
		Step     string `json:"step"`
	}
	// Committed reports a change that was stored.
	Committed struct {
		Version int `json:"version"`
	}
	// Moved reports that the session came to another step or phase.
	Moved struct {
		Block int    `json:"block"`
		Phase string `json:"phase"`
		Step  string `json:"step"`
	}
	// Validated reports the check of a model's text. Rule is the first rule that it breaks, and
	// Warnings counts the findings that do not make it invalid.
	Validated struct {
		Purpose  string `json:"purpose"`
		Rule     string `json:"rule"`
		Step     string `json:"step"`
		Valid    bool   `json:"valid"`
		Warnings int    `json:"warnings"`
	}
	// guarded reports an intervention in the work on a message: transport-retry,
	// validation-retry, exhausted, trimmed, history-over, lost-call, refused, usage-differs,
	// fallback, session-limit or budget-spent.
	guarded struct {
		Name    string `json:"-"`
		Purpose string `json:"purpose"`
		Step    string `json:"step"`
	}
)

// Event implements event.Payload.
func (Submitted) Event() (event.Kind, string) { return event.Iteration, "submission" }

// Event implements event.Payload.
func (Committed) Event() (event.Kind, string) { return event.Checkpoint, "commit" }

// Event implements event.Payload.
func (Moved) Event() (event.Kind, string) { return event.State, "interview" }

// Event implements event.Payload.
func (Validated) Event() (event.Kind, string) { return event.Verdict, "validator" }

// Event implements event.Payload.
func (g guarded) Event() (event.Kind, string) { return event.Guard, g.Name }
