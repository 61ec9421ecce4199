// Package agentfile reads .agent.md files: front matter with the agent's contract
// and the sections of document 003. It reads strictly and says where each error is.
//
// A file looks like this:
//
//	---
//	id: security-audit                  # names the agent in delegations
//	description: Finds flaws in a small code base.
//	model: gpt-4.1-mini                 # optional; default: the backend's own
//	max_iterations: 8                   # optional; default 5, at most 100
//	contract:                           # required, with at least one of its keys
//	  inputs:
//	    - {name: target, required: true, description: What is looked at.}
//	  input_schema: {type: object}      # JSON Schema of all inputs together
//	  output: {type: object}            # JSON Schema of the output
//	  constraints: [At most 20 issues.]
//	actions:                            # custom actions: programs
//	  count:
//	    command: [wc, -l, "{file}"]     # no shell; {file} is an input
//	    inputs: [{name: file, required: true}]
//	    timeout: 10s                    # default 1m, at most 1h
//	    description: Counts lines.
//	delegates: [release-notes]          # optional; default: any agent
//	---
//	You are ... (what the model is told)
//
//	## REACT_CYCLE
//
//	### Typical thoughts                (Thoughts typiques)
//	- What is reachable from outside?
//
//	### Specific actions                (Actions spécifiques)
//	- `count`: how many lines a file has
//
//	### Done criteria                   (Critères de done)
//	- Every file was looked at.
//
//	### Escalation triggers             (Triggers d'escalation)
//	- A key that seems to be in use.
//
// The headings of REACT_CYCLE may be in English or French; each is optional, and
// so is REACT_CYCLE itself. What an action needs to run stands in the front
// matter and what it is for in the section, so each must name the same actions.
package agentfile

import (
	"encoding/json"

	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// Agent is what a file describes.
type Agent struct {
	// ID names the agent in delegations: small letters, digits, "-" and "_".
	ID          string
	Description string
	// Model is passed to the backend; empty: the backend's own.
	Model string
	// Body is the Markdown around REACT_CYCLE: who the agent is, as its model is
	// told.
	Body     string
	Contract Contract
	// MaxIterations is 5 where the file does not say.
	MaxIterations int
	// Thoughts, Done and Triggers are the lists of REACT_CYCLE.
	Thoughts, Done, Triggers []string
	// Actions are the custom ones, in the order of the section.
	Actions []Action
	// Delegates are the ids of agents that it may hand over to; empty: any.
	Delegates []string
	// File is where it was read.
	File string
}

// Contract is what goes in and comes out.
type Contract struct {
	Inputs []Input
	// InputSchema and Output are JSON Schemas that compile; nil where the file has
	// none.
	InputSchema json.RawMessage
	Output      json.RawMessage
	Constraints []string
}

// Input is one input that a task gives to an agent, or an agent to an action.
type Input struct {
	// Name is a small letter, then small letters, digits, "-" and "_".
	Name string `yaml:"name" json:"name"`
	// Required says that nothing begins without it.
	Required bool `yaml:"required,omitempty" json:"required,omitempty"`
	// Description says what it is.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
}

// Action is a custom action: a program with its arguments, in which {name} stands
// for an input.
type Action struct {
	ID          string
	Description string
	// Command is never empty, and its program never holds an input.
	Command []string
	Inputs  []Input
	// Timeout is above 0; 1m where the file does not say.
	Timeout quantity.Duration
}
