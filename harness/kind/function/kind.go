// Package function lets scenarios drive Go functions.
package function

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options are the keys under drive.function.
type Options struct {
	// Name is the name of the function in the program that runs the scenario.
	Name           string `yaml:"name" json:"name"`
	scenarios.Talk `yaml:",inline"`
}

// Kind returns the kind "function" with the functions of the program by name. With nil their
// scenarios are skipped.
func Kind(functions map[string]app.Maker) kind.Kind {
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "function", Title: "a Go function", Statuses: scenarios.AppStatuses(), External: true, MCP: []string{mcp.HTTP},
			Options: func() any { return new(Options) },
			Check:   func(c *scenarios.Checker, opts any) { opts.(*Options).Check(c, "drive.function") },
		},
		Invariants: kind.ExternalInvariants(),
		Extensions: kind.UserExtensions(),
		New: func(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
			opts := sc.Drive.Options.(*Options)
			agent, err := newAgent(opts, functions)
			if err != nil {
				return nil, err
			}
			return drive.NewConversation(sc, env, drive.Conversation{Talk: opts.Talk, Agent: agent, Virtual: true})
		},
	}
}

// newAgent returns the function that the scenario names.
func newAgent(opts *Options, functions map[string]app.Maker) (app.Agent, error) {
	if functions == nil {
		return noFunctions{opts.Name}, nil
	}
	maker, ok := functions[opts.Name]
	if !ok {
		known := cmp.Or(strings.Join(slices.Sorted(maps.Keys(functions)), ", "), "none")
		return nil, fmt.Errorf(
			"no Go function is registered as %q (there are: %s); "+
				"functions are driven from Go, by harness.Rehearse with Functions or Makers", opts.Name, known)
	}
	return &function{maker: maker, patience: cmp.Or(opts.Timeout.Std(), drive.DefaultTurnTimeout), grace: functionGrace}, nil
}
