package container

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
	"github.com/rehearse-dev/rehearse/harness/kind/http"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Options are the keys under drive.container.
type Options struct {
	// Image is the container's image, which is pulled if it is missing.
	Image string `yaml:"image,omitempty" json:"image,omitempty"`
	// Build is the folder of a Dockerfile, relative to the scenario file's; it replaces Image.
	Build string `yaml:"build,omitempty" json:"build,omitempty"`
	// Port is the port on which the application listens in the container.
	Port           int `yaml:"port" json:"port" jsonschema:"minimum=1,maximum=65535"`
	command.Launch `yaml:",inline"`
	scenarios.Talk `yaml:",inline"`
	http.Web       `yaml:",inline"`
	// Required makes it an error, instead of a skip, if there is no Docker daemon.
	Required bool `yaml:"required,omitempty" json:"required,omitempty"`
	// Routed gives the container a network with a route to the outside even if that is not
	// necessary. Scenarios cannot set it.
	Routed bool `yaml:"-" json:"-"`
}

// Kind returns the kind "container".
func Kind() kind.Kind {
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "container", Title: "a container", Statuses: scenarios.AppStatuses(), External: true, MCP: []string{mcp.HTTP},
			Options: func() any { return new(Options) },
			Check:   func(c *scenarios.Checker, opts any) { opts.(*Options).check(c) },
			CheckTurn: func(opts any, p perturb.Perturbation) error {
				return opts.(*Options).CheckRestart(p, true)
			},
			Relocate: func(opts any, back string) map[string]any { return opts.(*Options).relocate(back) },
		},
		Invariants: kind.ExternalInvariants(),
		Extensions: kind.UserExtensions(),
		New:        newDriver,
	}
}

// newDriver returns the driver of the container that the scenario names. The command and the
// variables are used inside the container.
func newDriver(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
	o := *sc.Drive.Options.(*Options)
	if o.Build != "" && !filepath.IsAbs(o.Build) {
		folder, err := sc.Folder()
		if err != nil {
			return nil, fmt.Errorf("build the container's image of the folder %s: %w", o.Build, err)
		}
		o.Build = filepath.Join(folder, filepath.FromSlash(o.Build))
	}
	agent, err := New(o)
	if err != nil {
		return nil, err
	}
	return drive.NewConversation(sc, env, drive.Conversation{Talk: o.Talk, Agent: agent, Restarts: true})
}

// relocate returns the keys that change when the scenario's file moves.
func (o *Options) relocate(back string) map[string]any {
	changes := o.Relocate(back)
	if o.Build != "" && !filepath.IsAbs(o.Build) {
		changes["build"] = path.Join(back, filepath.ToSlash(o.Build))
	}
	return changes
}

func (o *Options) check(c *scenarios.Checker) {
	const at = "drive.container"
	switch {
	case o.Image == "" && o.Build == "":
		c.Add(at, "", "no container; set image, or build to the folder of a Dockerfile")
	case o.Image != "" && o.Build != "":
		c.Add(at+".image", "", "image and build cannot both be set; remove one of them")
	}
	o.Web.Check(c, at)
	o.Talk.Check(c, at)
}
