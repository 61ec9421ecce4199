package react

import "github.com/rehearse-dev/rehearse/event"

// The payloads of the events of an agent and its delegates. The events of guards have no payload
// except for Complacent.
type (
	// Iterated reports the end of an iteration. Refused is the rule that its step broke, or
	// empty; Depth is the number of delegations above the agent.
	Iterated struct {
		Action   string `json:"action"`
		Agent    string `json:"agent"`
		Decision string `json:"decision"`
		Depth    int    `json:"depth"`
		Refused  string `json:"refused"`
		// Skipped counts the tool calls of the answer that were not used.
		Skipped int `json:"skipped,omitempty"`
	}
	// Acted reports an action; Rule is the reason if it failed. Read and Written count files.
	Acted struct {
		Action  string `json:"action"`
		Failed  bool   `json:"failed"`
		Read    int    `json:"read"`
		Rule    string `json:"rule"`
		Written int    `json:"written"`
	}
	// Reflected reports the verdict on a reflection.
	Reflected struct {
		Critical bool    `json:"critical"`
		Score    float64 `json:"score"`
	}
	// Complacent reports a reflection that cites no fact of its observation.
	Complacent struct {
		Refused bool `json:"refused"`
	}
	// Verified reports the verdict on an output, by part. Verified is true if it passed on more
	// evidence than the claim of the agent.
	Verified struct {
		Completeness bool `json:"completeness"`
		Consistency  bool `json:"consistency"`
		Constraints  bool `json:"constraints"`
		Correctness  bool `json:"correctness"`
		Passed       bool `json:"passed"`
		Revision     int  `json:"revision"`
		Verified     bool `json:"verified"`
	}
	// AskedPerson reports a question to a person.
	AskedPerson struct {
		Answered bool   `json:"answered"`
		Trigger  string `json:"trigger"`
	}
	// Delegated reports the end of a delegation.
	Delegated struct {
		Depth  int    `json:"depth"`
		Status string `json:"status"`
		To     string `json:"to"`
	}
)

// Event implements event.Payload.
func (Iterated) Event() (event.Kind, string) { return event.Iteration, "react" }

// Event implements event.Payload.
func (Acted) Event() (event.Kind, string) { return event.State, "action" }

// Event implements event.Payload.
func (Reflected) Event() (event.Kind, string) { return event.Verdict, "reflection" }

// Event implements event.Payload.
func (Complacent) Event() (event.Kind, string) { return event.Guard, ruleComplacent }

// Event implements event.Payload.
func (Verified) Event() (event.Kind, string) { return event.Verdict, "verification" }

// Event implements event.Payload.
func (AskedPerson) Event() (event.Kind, string) { return event.HandOver, "person" }

// Event implements event.Payload.
func (Delegated) Event() (event.Kind, string) { return event.HandOver, "agent" }
