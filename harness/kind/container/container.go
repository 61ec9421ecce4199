// Package container drives an agent that is an HTTP application in a container, by
// testcontainers-go.
//
// Each trial has a container of its own in a network of its own, which has no route to
// the outside: the container reaches the scripted backend and the proxy that refuses
// all other hosts at the network's gateway, where the harness passes connections on.
// That needs Docker to run on this machine. Where it runs in a virtual machine (Docker
// Desktop) or elsewhere, the container has an ordinary network and finds the harness
// at host.docker.internal; what it calls outside is then not refused unless it minds
// the proxy, which the recording says.
package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/http"
	"github.com/rehearse-dev/rehearse/internal/quickstart"
)

// Label is the label of the containers and networks that are made here; its value is the
// container's name.
const Label = "dev.rehearse.agent"

// Config describes the container.
type Config struct {
	// Image is the container's image, which is pulled if it is not there; or Build is
	// the folder of a Dockerfile, whose image is removed at the end.
	Image, Build string
	// Port is the one that the application listens on in the container. It finds it in
	// PORT, too.
	Port int
	// Run takes the place of the image's command; empty: that command.
	Run []string
	// Env are further variables, as NAME=value.
	Env []string
	// Required makes it an app.Unusable, and no app.Absent, if there is no Docker.
	Required bool
	// Routed gives the container a network with a route to the outside even where it
	// can do without.
	Routed bool
}

// New returns the agent that is an application in a container.
func New(cfg Config, dialogue http.Dialogue) (app.Agent, error) {
	switch {
	case (cfg.Image == "") == (cfg.Build == ""):
		return nil, errors.New("a container has an image, or the folder of a Dockerfile (build), and not both")
	case cfg.Port < 1 || cfg.Port > 65535:
		return nil, fmt.Errorf("%d is not a port of a container", cfg.Port)
	}
	return &agent{cfg, dialogue}, nil
}

type agent struct {
	cfg      Config
	dialogue http.Dialogue
}

// Start implements app.Agent.
func (a *agent) Start(ctx context.Context, site app.Site) (app.Session, error) {
	if err := named(ctx); err != nil {
		return nil, err
	}
	docker, err := connect(ctx)
	if err != nil {
		kind := app.Absent
		if a.cfg.Required {
			kind = app.Unusable
		}
		return nil, app.Errorf(kind, "there is no Docker to run a container in: %w; start it, or say in DOCKER_HOST where it is", err)
	}
	return http.Open(ctx, a.dialogue, newPlace(a.cfg, site, docker), site.Clock)
}

// named makes sure that Docker answers where DOCKER_HOST says, if that is set: the library
// would go on to the usual places, and drive the agent with another Docker than the one
// that was asked for.
func named(ctx context.Context) error {
	host := os.Getenv(client.EnvOverrideHost)
	if host == "" {
		return nil
	}
	docker, err := client.New(client.FromEnv)
	if err == nil {
		_, err = docker.Ping(ctx, client.PingOptions{})
		_ = docker.Close()
	}
	if err != nil {
		return app.Errorf(app.Unusable, "Docker does not answer at DOCKER_HOST=%s: %w; start it, or correct or unset DOCKER_HOST", host, err)
	}
	return nil
}

// settled guards what is done once, as the library reads its configuration once and says
// once to which Docker it is connected.
var settled sync.Once

// settle keeps the library from starting a container that removes others, whose image it
// would fetch from elsewhere: what is started here is removed here. It also takes the
// chance to let it say, to nobody, what it says on its first connection.
func settle(ctx context.Context) {
	const ryuk = "TESTCONTAINERS_RYUK_DISABLED"
	if _, said := os.LookupEnv(ryuk); !said {
		_ = os.Setenv(ryuk, "true")
	}
	before := log.Default()
	log.SetDefault(log.NewNoopLogger())
	defer log.SetDefault(before)
	if docker, err := testcontainers.NewDockerProvider(); err == nil {
		_ = docker.Health(ctx) // whether it is well is asked again
		_ = docker.Close()
	}
}

var _ = quickstart.Done() // testcontainers-go is initialized

// connect returns a client of Docker that answers.
func connect(ctx context.Context) (docker *testcontainers.DockerProvider, err error) {
	defer func() { // where there is none, the library may panic
		if p := recover(); p != nil {
			docker, err = nil, fmt.Errorf("%v", p)
		}
	}()
	settled.Do(func() { settle(ctx) })
	if docker, err = testcontainers.NewDockerProvider(); err != nil {
		return nil, err
	}
	if err := docker.Health(ctx); err != nil {
		_ = docker.Close()
		return nil, err
	}
	return docker, nil
}
