// Package kind describes kinds of agents: how the part of a scenario about such an agent is
// read, how the agent is driven, measured and judged. A kind is a value; a program lists
// those that it knows.
package kind

import (
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/mocks/agent"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Kind is one kind of agent.
type Kind struct {
	// Kind is its part of the scenario file.
	scenarios.Kind
	// New returns the driver of a scenario.
	New drive.Maker
	// Main, if given, plays the part of another program and does not return, if this
	// process was started by a driver of the kind for that; otherwise it returns at once.
	Main func()
}

// List are the kinds that a program knows, in the order in which messages name them.
type List []Kind

// Formats returns the kinds' parts of the scenario file.
func (l List) Formats() []scenarios.Kind {
	formats := make([]scenarios.Kind, len(l))
	for i, k := range l {
		formats[i] = k.Kind
	}
	return formats
}

// Makers returns the makers of drivers by the names of the kinds.
func (l List) Makers() map[string]drive.Maker {
	makers := make(map[string]drive.Maker, len(l))
	for _, k := range l {
		makers[k.Name] = k.New
	}
	return makers
}

// Main plays the part of another program and does not return, if this process was started
// by a driver for that: a scripted command-line agent, or what a kind of agent needs.
// Otherwise it returns at once. A program whose Env.Executable is empty calls it first.
func (l List) Main() {
	agent.Main()
	for _, k := range l {
		if k.Main != nil {
			k.Main()
		}
	}
}
