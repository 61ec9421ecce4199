// Package http drives an HTTP application: each turn is a request, and the answer is taken
// from the response.
package http

import (
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Options are the keys under drive.http.
type Options struct {
	// Launch starts the application, which finds its port in PORT. Without Run it is
	// already running, at URL.
	command.Launch `yaml:",inline"`
	scenarios.Talk `yaml:",inline"`
	Web            `yaml:",inline"`
	// URL is the base address of a running application, on loopback.
	URL string `yaml:"url,omitempty" json:"url,omitempty"`
	// Network is the network of an application that is started, as for a command.
	Network string `yaml:"network,omitempty" json:"network,omitempty" jsonschema:"enum=own,enum=shared"`
}

// started reports whether the harness starts the application.
func (o *Options) started() bool { return o.URL == "" }

// Kind returns the kind "http".
func Kind() kind.Kind {
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "http", Title: "an HTTP application", Statuses: scenarios.AppStatuses(), External: true, MCP: []string{mcp.HTTP, mcp.Stdio},
			Options: func() any { return new(Options) },
			Check:   func(c *scenarios.Checker, opts any) { opts.(*Options).check(c) },
			CheckTurn: func(opts any, p perturb.Perturbation) error {
				o := opts.(*Options)
				return o.CheckRestart(p, o.started())
			},
			Relocate: func(opts any, back string) map[string]any { return opts.(*Options).Relocate(back) },
		},
		Invariants: kind.ExternalInvariants(),
		Extensions: kind.UserExtensions(),
		New:        newDriver,
	}
}

func newDriver(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
	o := sc.Drive.Options.(*Options)
	resolved := *o
	var err error
	if resolved.Launch, err = o.Resolve(&sc, env); err != nil {
		return nil, err
	}
	agent, err := New(resolved)
	if err != nil {
		return nil, err
	}
	return drive.NewConversation(sc, env, drive.Conversation{
		Talk: o.Talk, Agent: agent, OwnNetwork: o.started() && o.Network != command.SharedNetwork,
		Restarts: o.started(), Hint: o.Hint(&sc, o.Files),
	})
}

// New returns the agent of an HTTP application. Placeholders in Run and Env are not replaced.
func New(o Options) (app.Agent, error) {
	dialogue, err := o.Dialogue()
	switch {
	case err != nil:
		return nil, err
	case !o.started():
		base, err := parseBase(o.URL)
		if err != nil {
			return nil, fmt.Errorf("the application's url: %w", err)
		}
		return running{dialogue, base}, nil
	case len(o.Run) == 0 || o.Run[0] == "":
		return nil, errors.New("no application; set run to [program, argument], or url to the address of a running application")
	}
	return &program{o.Launch, dialogue}, nil
}

func (o *Options) check(c *scenarios.Checker) {
	for _, name := range o.Sources() {
		c.Program(name)
	}
	const at = "drive.http"
	switch {
	case o.URL == "" && (len(o.Run) == 0 || o.Run[0] == ""):
		c.Add(at, "", "no application; set run to [program, argument], or url to the address of a running application")
	case o.URL != "" && len(o.Run) > 0:
		c.Add(at+".url", "", "url and run cannot both be set: an application that is started gets its port in PORT; remove one of them")
	case o.URL != "":
		if _, err := parseBase(o.URL); err != nil {
			c.Add(at+".url", "", "%v", err)
		}
		if len(o.Env) > 0 {
			c.Add(at+".env", "", "env cannot be set for a running application (url); remove it, or start the application with run")
		}
		if o.Network != "" {
			c.Add(at+".network", "", "network cannot be set for a running application (url); remove it, or start the application with run")
		}
	}
	o.Web.Check(c, at)
	o.Talk.Check(c, at)
}
