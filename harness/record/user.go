package record

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// Persona is the event of the simulated user of a conversation, before the first turn; its detail
// describes the user.
type Persona struct {
	// At is the path of the user, such as "drive.http.user".
	At string `json:"path,omitempty"`
	// Goals are the ids of the goals in their order, Wanted and Avoided those of each kind.
	Goals   []string `json:"goals,omitempty"`
	Wanted  []string `json:"wanted,omitempty"`
	Avoided []string `json:"avoided,omitempty"`
	// Contradictions and Refusals report whether the scenario declares what they are.
	Contradictions bool `json:"contradictions"`
	Refusals       bool `json:"refusals"`
}

// Event implements event.Payload.
func (Persona) Event() (event.Kind, string) { return event.State, "persona" }

// UserCall is the event of a call of the model that puts a message of a simulated user into words, before the
// event of the turn; it also has the members of a usage (input, output, ...), if the model reported one.
// The event's N is the turn, its detail the message that the state machine decided on.
type UserCall struct {
	Model string `json:"model,omitempty"` // that answered
	// Lacks are facts of the message that the model's text does not have. The message was then sent as the
	// state machine wrote it, and Unused is the model's text.
	Lacks  []string `json:"lacks,omitempty"`
	Unused string   `json:"unused,omitempty"`
	// Error is the reason why the call failed.
	Error string `json:"error,omitempty"`
	// Usage is nil if the model did not report it.
	*llm.Usage
}

// Event implements event.Payload.
func (UserCall) Event() (event.Kind, string) { return event.State, "user-call" }

// Heard is the event of what a simulated user noticed in a turn, after the event of the turn. The
// event's N is the number of the turn, its detail a description.
type Heard struct {
	Gave         []string `json:"gave,omitempty"`         // facts that the user's message revealed
	Reached      []string `json:"reached,omitempty"`      // goals
	Asked        []string `json:"asked,omitempty"`        // facts that the answer asks for
	Repeated     []string `json:"repeated,omitempty"`     // those of them that the agent had
	Contradicted []string `json:"contradicted,omitempty"` // facts
	Refused      bool     `json:"refused,omitempty"`
	Silent       bool     `json:"silent,omitempty"` // the answer is empty
}

// Event implements event.Payload.
func (Heard) Event() (event.Kind, string) { return event.State, "heard" }

// The ends of a script, beside those of a simulated user.
const (
	ScriptEnded     = "script-ended" // after the last step
	ScriptSucceeded = "succeeded"
	ScriptFailed    = "failed"
)

// UserEnd is the event of the end of a conversation that the agent did not end by failing. The
// event's N is the last turn, its detail the reason.
type UserEnd struct {
	Outcome string `json:"outcome"` // of user.Outcome, or an end of a script
	// At is the path of the step that ended the conversation; empty if none did.
	At string `json:"step,omitempty"`
}

// Event implements event.Payload.
func (UserEnd) Event() (event.Kind, string) { return event.State, "user-end" }

// Check is the event of an expression to judge over the facts before it; its detail is the expression.
type Check struct {
	At    string `json:"step"`  // the path of the expression
	Calls int    `json:"calls"` // of the agent since the conversation began
	// Requests counts the requests that reached the scripted backend.
	Requests int `json:"requests"`
}

// Event implements event.Payload.
func (Check) Event() (event.Kind, string) { return event.State, "check" }
