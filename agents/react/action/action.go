// Package action does what a ReAct agent asks for: the standard actions of
// document 003 on the files of one workspace folder, and an agent's own actions as
// commands. Nothing leaves the workspace, also not through a symbolic link.
package action

import "context"

// The standard actions. The last three are the engine's own: they need a person
// or another agent.
const (
	Analyze     = "analyze"
	Search      = "search"
	Generate    = "generate"
	Validate    = "validate"
	Transform   = "transform"
	Compare     = "compare"
	RequestInfo = "request_info"
	Delegate    = "delegate"
	Escalate    = "escalate"
)

// Result is what an action came to.
type Result struct {
	// Observation is what the agent is told: facts, one a line; bounded.
	Observation string
	// Failed says that the action could not be done; Observation says why, with Rule as its name, such
	// as "outside-workspace", "no-such-file", "unknown-action", "bad-input", "timeout".
	Failed bool
	Rule   string
	// Read and Written are paths in the workspace, with slashes.
	Read, Written []string
}

// Set does actions. It is safe for concurrent use.
type Set interface {
	// Do does an action with an input as the agent wrote it (YAML). The error is only
	// that of a ctx that ended.
	Do(ctx context.Context, id, input string) (Result, error)
	// Describe says, for the agent's model, which actions there are and what they
	// take.
	Describe() string
}
