// Package event describes what an agent did, as a value, and the Sink that is
// told about it. An agent behaves the same with and without a sink.
package event

// Kind is the kind of an event.
type Kind string

// The kinds of Event.
const (
	Iteration  Kind = "iteration"  // one pass of an outer loop ended
	Guard      Kind = "guard"      // a guard looked and changed the course
	Verdict    Kind = "verdict"    // a judgement on an answer (stop guard, validator)
	Checkpoint Kind = "checkpoint" // state was saved
	State      Kind = "state"      // a state machine moved (circuit breaker, session)
	HandOver   Kind = "hand-over"  // control went to a person or to another agent
	End        Kind = "end"        // the agent ended
)

// Event is one thing that an agent did or decided, and why.
type Event struct {
	Kind Kind `json:"kind"`
	// Name is the name of the guard, state machine or checkpoint.
	Name string `json:"name,omitempty"`
	// N is the iteration, from 1; 0 outside an iteration.
	N int `json:"n,omitempty"`
	// Detail is the reason, for a person.
	Detail string `json:"detail,omitempty"`
	// Attrs are further facts. Values are strings, booleans or numbers, so that
	// they survive a round trip through JSON.
	Attrs map[string]any `json:"attrs,omitempty"`
}

// Sink receives events as they happen, in order. Emit must not block for long
// and must not keep Attrs.
type Sink interface {
	Emit(Event)
}

// SinkFunc lets a function be a Sink.
type SinkFunc func(Event)

// Emit calls f.
func (f SinkFunc) Emit(e Event) { f(e) }

// Discard is a Sink that forgets.
var Discard Sink = SinkFunc(func(Event) {})
