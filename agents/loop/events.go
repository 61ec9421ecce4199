package loop

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// The events of a run that have attributes, beside stop.Judgement.
type (
	// Iterated ends an iteration. Error is the kind of a failed call's error, empty if that is
	// unknown; Denied describes the tool calls that permissions refused.
	Iterated struct {
		OK     bool             `json:"ok"`
		Error  *llm.ErrorKind   `json:"error,omitempty"` // nil if the call was answered
		Finish llm.FinishReason `json:"finish,omitempty"`
		Tokens *int             `json:"tokens,omitempty"` // nil if the backend reported none
		Denied string           `json:"denied,omitempty"`
	}
	// TodoMoved changes the state of a todo. From is empty for a new one.
	TodoMoved struct {
		ID   string    `json:"id"`
		From TodoState `json:"from,omitempty"`
		To   TodoState `json:"to"`
	}
	// BreakerMoved changes the state of the circuit breaker: "closed", "open" or "half-open".
	BreakerMoved struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
)

// Event implements event.Payload.
func (Iterated) Event() (event.Kind, string) { return event.Iteration, "" }

// Event implements event.Payload.
func (TodoMoved) Event() (event.Kind, string) { return event.State, "todo" }

// Event implements event.Payload.
func (BreakerMoved) Event() (event.Kind, string) { return event.State, "breaker" }
