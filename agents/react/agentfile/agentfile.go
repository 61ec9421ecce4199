// Package agentfile reads .agent.md files: front matter with the agent's contract
// and the sections of document 003. It reads strictly and says where each error is.
package agentfile

import (
	"encoding/json"

	"github.com/rehearse-dev/rehearse/internal/unit"
)

// Agent is what a file describes.
type Agent struct {
	// ID names the agent in delegations.
	ID          string
	Description string
	// Model is passed to the backend; empty: the backend's own.
	Model string
	// Body is the text before REACT_CYCLE: who the agent is, as its model is told.
	Body     string
	Contract Contract
	// MaxIterations is 5 where the file does not say.
	MaxIterations int
	// Thoughts, Done and Triggers are the lists of REACT_CYCLE.
	Thoughts, Done, Triggers []string
	// Actions are the custom ones.
	Actions []Action
	// Delegates are the ids of agents that it may hand over to; empty: any.
	Delegates []string
	// File is where it was read.
	File string
}

// Contract is what goes in and comes out.
type Contract struct {
	Inputs []Input
	// InputSchema and Output are JSON Schemas; nil where the file has none.
	InputSchema json.RawMessage
	Output      json.RawMessage
	Constraints []string
}

// Input is one input that a task gives.
type Input struct {
	Name        string
	Required    bool
	Description string
}

// Action is a custom action: a program with its arguments, in which {name} stands for an input.
type Action struct {
	ID          string
	Description string
	Command     []string
	Inputs      []Input
	Timeout     unit.Duration // default 1m
}
