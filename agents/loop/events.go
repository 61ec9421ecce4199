package loop

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// The events of a run with attributes, in addition to stop.Judgement.
type (
	// Iterated is the end of an iteration. Error is the kind of the error of a failed call, empty if
	// unknown; Denied describes the tool calls that permissions refused.
	Iterated struct {
		OK     bool             `json:"ok"`
		Error  *llm.ErrorKind   `json:"error,omitempty"` // nil if the call was answered
		Finish llm.FinishReason `json:"finish,omitempty"`
		Tokens *int             `json:"tokens,omitempty"` // nil if unknown
		Denied string           `json:"denied,omitempty"`
	}
	// TodoMoved is a change of the state of a todo. From is empty for a new todo.
	TodoMoved struct {
		ID   string    `json:"id"`
		From TodoState `json:"from,omitempty"`
		To   TodoState `json:"to"`
	}
	// BreakerMoved is a change of the state of the circuit breaker: "closed", "open" or "half-open".
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
