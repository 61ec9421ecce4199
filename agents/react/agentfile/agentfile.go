// Package agentfile reads .agent.md files: front matter with the contract of an agent, and the sections
// of document 003. It is strict and reports the position of each error.
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
//	    - {name: target, required: true, description: The folder to examine.}
//	  input_schema: {type: object}      # JSON Schema of all inputs together
//	  output: {type: object}            # JSON Schema of the output
//	  constraints: [At most 20 issues.]
//	actions:                            # custom actions: programs
//	  count:
//	    command: [wc, -l, "{file}"]     # no shell; {file} is an input
//	    inputs: [{name: file, required: true}]
//	    timeout: 10s                    # default 1m, at most 1h
//	    description: Counts lines.
//	approve: {mode: ask, allow: ["shell:go test *"]} # optional: actions shell and edit
//	mcp: {files: {command: [mcp-server-files, .]}} # optional: actions files.*
//	delegates: [release-notes]          # optional; default: any agent
//	---
//	You are ... (instructions for the model)
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
// The headings of REACT_CYCLE may be in English or French. They and REACT_CYCLE itself are optional. The
// front matter has the command of an action and the section its purpose, so both must have the same
// actions.
package agentfile

import (
	"encoding/json"

	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// Suffix ends the names of agent files.
const Suffix = ".agent.md"

// Agent is the content of an agent file.
type Agent struct {
	// ID names the agent in delegations: lower-case letters, digits, "-" and "_".
	ID          string
	Description string
	// Model is passed to the backend; empty: the backend's own.
	Model string
	// Body is the Markdown around REACT_CYCLE: the instructions for the model.
	Body     string
	Contract Contract
	// MaxIterations is 5 by default.
	MaxIterations int
	// Thoughts, Done and Triggers are the lists of REACT_CYCLE.
	Thoughts, Done, Triggers []string
	// Actions are the custom actions, in the order of the section.
	Actions []Action
	// Approval decides about actions that change more than the standard ones.
	Approval Approval
	// Servers are MCP servers by name.
	Servers map[string]Server
	// Delegates are the ids of the agents that it may delegate to; empty: any.
	Delegates []string
	// File is the path of the file.
	File string
}

// Contract describes the inputs and the output.
type Contract struct {
	Inputs []Input
	// InputSchema and Output are valid JSON Schemas, or nil.
	InputSchema json.RawMessage
	Output      json.RawMessage
	Constraints []string
}

// Input is an input of an agent or of an action.
type Input struct {
	// Name is a lower-case letter, then lower-case letters, digits, "-" and "_".
	Name string `yaml:"name" json:"name"`
	// Required inputs must be given.
	Required bool `yaml:"required,omitempty" json:"required,omitempty"`
	// Description describes the value.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
}

// Action is a custom action: a program with arguments, in which {name} is replaced by an
// input.
type Action struct {
	ID          string
	Description string
	// Command is never empty, and its program never contains an input.
	Command []string
	Inputs  []Input
	// Timeout is above 0; 1m by default.
	Timeout quantity.Duration
}
