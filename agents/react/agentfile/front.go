package agentfile

import "github.com/rehearse-dev/rehearse/internal/quantity"

// Front is the front matter of an agent file.
type Front struct {
	// ID names the agent in delegations: a lower-case letter, then lower-case letters,
	// digits, "-" and "_".
	ID string `yaml:"id" json:"id"`
	// Description describes the agent's purpose in one sentence.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	// Model is passed to the backend; default: the backend's own.
	Model string `yaml:"model,omitempty" json:"model,omitempty"`
	// MaxIterations is the limit of rounds of thought and action in a run; default 5.
	MaxIterations int `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=1,maximum=100"`
	// Contract describes the inputs and the output. It is required; it is optional here
	// for a better message.
	Contract *FrontContract `yaml:"contract,omitempty" json:"contract"`
	// Actions are the custom actions by name; each must be listed in REACT_CYCLE, too.
	Actions map[string]Command `yaml:"actions,omitempty" json:"actions,omitempty"`
	// Approve decides about the actions shell and edit and about those of MCP servers.
	Approve *Approval `yaml:"approve,omitempty" json:"approve,omitempty"`
	// MCP are MCP servers by name; their tools are actions named server.tool, which need an approval.
	MCP map[string]Server `yaml:"mcp,omitempty" json:"mcp,omitempty"`
	// Delegates are the ids of the agents that it may delegate to; default: any.
	Delegates []string `yaml:"delegates,omitempty" json:"delegates,omitempty"`
}

// FrontContract is the contract in the front matter; it is not empty.
type FrontContract struct {
	// Inputs are the inputs of a task.
	Inputs []Input `yaml:"inputs,omitempty" json:"inputs,omitempty"`
	// InputSchema is a JSON Schema of all inputs together.
	InputSchema map[string]any `yaml:"input_schema,omitempty" json:"input_schema,omitempty"`
	// Output is a JSON Schema of the output.
	Output map[string]any `yaml:"output,omitempty" json:"output,omitempty"`
	// Constraints are rules for the output, in words.
	Constraints []string `yaml:"constraints,omitempty" json:"constraints,omitempty"`
}

// Command describes the program of a custom action.
type Command struct {
	// Command is a program and its arguments, in which {name} is replaced by an input. It
	// is run without a shell.
	Command []string `yaml:"command" json:"command"`
	// Inputs are the inputs that the agent's model gives.
	Inputs []Input `yaml:"inputs,omitempty" json:"inputs,omitempty"`
	// Timeout limits the time of a run, at most 1h; default 1m.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// Description is used if REACT_CYCLE does not have one.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
}
