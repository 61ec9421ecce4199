// Package kind describes kinds of agents: how the part of a scenario about such an agent is
// read, how the agent is driven, measured and judged. A kind is a value; a program lists
// those that it knows.
package kind

import (
	"slices"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/mocks/agent"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Kind is one kind of agent.
type Kind struct {
	// Kind is its part of the scenario file.
	scenarios.Kind
	// New returns the driver of a scenario.
	New drive.Maker
	// Extensions are the facts and metrics that such agents have beside those of the core.
	// Several kinds may have the same one.
	Extensions []measure.Extension
	// Invariants are those that hold of every run, however it is perturbed.
	Invariants []gate.Invariant
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

// Language returns the language in which trials of the kinds are measured and judged.
func (l List) Language() *gate.Language {
	var extensions []measure.Extension
	invariants := make(map[string][]gate.Invariant, len(l))
	for _, k := range l {
		invariants[k.Name] = k.Invariants
		for _, e := range k.Extensions {
			if !slices.ContainsFunc(extensions, func(other measure.Extension) bool { return other.Name == e.Name }) {
				extensions = append(extensions, e)
			}
		}
	}
	return gate.NewLanguage(extensions, invariants)
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
