// Package event describes the events that an agent emits to a Sink. An agent behaves the same
// with and without a sink.
package event

// Kind is the kind of an event.
type Kind string

// The kinds of Event.
const (
	Iteration  Kind = "iteration"  // one pass of an outer loop ended
	Guard      Kind = "guard"      // a guard intervened
	Verdict    Kind = "verdict"    // a judgement on an answer (stop guard, validator)
	Checkpoint Kind = "checkpoint" // state was saved
	State      Kind = "state"      // a state machine changed its state (circuit breaker, session)
	HandOver   Kind = "hand-over"  // control went to a person or to another agent
	Tool       Kind = "tool"       // a call of a tool of a scripted server ended
	End        Kind = "end"        // the agent ended
)

// Event is an action or a decision of an agent, with its reason.
type Event struct {
	Kind Kind `json:"kind"`
	// Name is the name of the guard, state machine or checkpoint.
	Name string `json:"name,omitempty"`
	// N is the iteration, from 1; 0 outside an iteration.
	N int `json:"n,omitempty"`
	// Detail is the reason, for people.
	Detail string `json:"detail,omitempty"`
	// Attrs are the fields of the payload; see New. Values are strings, booleans or numbers,
	// which survive a round trip through JSON.
	Attrs map[string]any `json:"attrs,omitempty"`
}

// Sink receives events in order. Emit must not block for long or retain Attrs.
type Sink interface {
	Emit(Event)
}

// SinkFunc is a function that implements Sink.
type SinkFunc func(Event)

// Emit calls f.
func (f SinkFunc) Emit(e Event) { f(e) }

// Discard is a Sink that ignores all events.
var Discard Sink = SinkFunc(func(Event) {})
