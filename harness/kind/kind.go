// Package kind describes kinds of agents: how their part of a scenario is parsed and how they
// are driven, measured and judged. A kind is a value; a program lists the kinds that it
// supports.
package kind

import (
	"slices"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/mocks/agent"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Kind is one kind of agent.
type Kind struct {
	// Kind is its part of the scenario file.
	scenarios.Kind
	// New returns the driver of a scenario.
	New drive.Maker
	// Extensions are the facts and metrics of such agents beside those of the core. Several
	// kinds may share one.
	Extensions []measure.Extension
	// Invariants hold for every run, with any perturbations.
	Invariants []gate.Invariant
	// Main, if given, runs another role of the program and does not return, if a driver of
	// the kind started this process for that; otherwise it returns at once.
	Main func()
}

// List has the kinds that a program supports, in the order in which messages name them.
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

// Main runs another role of the program and does not return, if a driver started this process
// for that: a scripted command-line agent, or a role of a kind of agent. Otherwise it returns
// at once. A program whose Env.Executable is empty must call it first.
func (l List) Main() {
	agent.Main()
	mcp.Main()
	for _, k := range l {
		if k.Main != nil {
			k.Main()
		}
	}
}
