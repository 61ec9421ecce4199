package agentfile

import "github.com/rehearse-dev/rehearse/internal/quantity"

// Front is the front matter of an agent file, as it is written.
type Front struct {
	// ID names the agent in delegations: a small letter, then small letters, digits,
	// "-" and "_".
	ID string `yaml:"id" json:"id"`
	// Description says in a sentence what the agent is for.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	// Model is passed to the backend; default: the backend's own.
	Model string `yaml:"model,omitempty" json:"model,omitempty"`
	// MaxIterations is how many rounds of thought and action a run may have; default
	// 5.
	MaxIterations int `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=1,maximum=100"`
	// Contract is what goes in and comes out. It is required; that it may be left out
	// here is for a better message.
	Contract *FrontContract `yaml:"contract,omitempty" json:"contract"`
	// Actions are the custom actions by their names; each is listed in REACT_CYCLE,
	// too.
	Actions map[string]Command `yaml:"actions,omitempty" json:"actions,omitempty"`
	// Delegates are the ids of agents that it may hand over to; default: any.
	Delegates []string `yaml:"delegates,omitempty" json:"delegates,omitempty"`
}

// FrontContract is the contract in the front matter; it is not empty.
type FrontContract struct {
	// Inputs are what a task gives.
	Inputs []Input `yaml:"inputs,omitempty" json:"inputs,omitempty"`
	// InputSchema is a JSON Schema of all inputs together.
	InputSchema map[string]any `yaml:"input_schema,omitempty" json:"input_schema,omitempty"`
	// Output is a JSON Schema of the output.
	Output map[string]any `yaml:"output,omitempty" json:"output,omitempty"`
	// Constraints are rules for the output, in words.
	Constraints []string `yaml:"constraints,omitempty" json:"constraints,omitempty"`
}

// Command is what a custom action runs.
type Command struct {
	// Command is a program and its arguments, in which {name} stands for an input. No
	// shell reads it.
	Command []string `yaml:"command" json:"command"`
	// Inputs are what the agent's model gives.
	Inputs []Input `yaml:"inputs,omitempty" json:"inputs,omitempty"`
	// Timeout is how long it may take, at most 1h; default 1m.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// Description is used where REACT_CYCLE has none.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
}
