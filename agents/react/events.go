package react

import "github.com/rehearse-dev/rehearse/event"

// The events of an agent and of those that it delegates to. Beside them there are those of
// guards, each with the name of what it refused or ended; Complacent alone has attributes.
type (
	// Iterated ends an iteration. Refused is the rule by which its step was refused, if it
	// was; Depth is how deep the agent was delegated to.
	Iterated struct {
		Action   string `json:"action"`
		Agent    string `json:"agent"`
		Decision string `json:"decision"`
		Depth    int    `json:"depth"`
		Refused  string `json:"refused"`
	}
	// Acted is an action that was done, or could not be done by a rule. Read and Written
	// count files.
	Acted struct {
		Action  string `json:"action"`
		Failed  bool   `json:"failed"`
		Read    int    `json:"read"`
		Rule    string `json:"rule"`
		Written int    `json:"written"`
	}
	// Reflected is the verdict about a reflection.
	Reflected struct {
		Critical bool    `json:"critical"`
		Score    float64 `json:"score"`
	}
	// Complacent is the guard against reflections that cite nothing.
	Complacent struct {
		Refused bool `json:"refused"`
	}
	// Verified is the verdict about an output, by part. Verified is true if it passed by more
	// than the agent's word.
	Verified struct {
		Completeness bool `json:"completeness"`
		Consistency  bool `json:"consistency"`
		Constraints  bool `json:"constraints"`
		Correctness  bool `json:"correctness"`
		Passed       bool `json:"passed"`
		Revision     int  `json:"revision"`
		Verified     bool `json:"verified"`
	}
	// AskedPerson is a question to a person.
	AskedPerson struct {
		Answered bool   `json:"answered"`
		Trigger  string `json:"trigger"`
	}
	// Delegated is a task that another agent has ended.
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
