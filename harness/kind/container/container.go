// Package container drives an HTTP application in a Docker container.
//
// Each trial has a container of its own in a network of its own, which has no route to
// the outside: the container reaches the scripted backend, and the proxy that refuses
// all other hosts, at the network's gateway, where the harness forwards connections.
// That requires Docker to run on this machine. If it runs in a virtual machine (Docker
// Desktop) or on another machine, the container has an ordinary network and reaches the
// harness at host.docker.internal; calls to the outside that bypass the proxy are not
// refused then, which the recording reports.
package container

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/http"
)

// Label is the label of the containers, images and networks that this package creates; its
// value is the container's name.
const Label = "dev.rehearse.agent"

// New returns the agent of an application in a container. Build is relative to the current folder, not
// to a scenario file.
func New(o Options) (app.Agent, error) {
	switch {
	case (o.Image == "") == (o.Build == ""):
		return nil, errors.New("a container needs either an image or the folder of a Dockerfile (build)")
	case o.Port < 1 || o.Port > 65535:
		return nil, fmt.Errorf("the container's port must be between 1 and 65535, got %d", o.Port)
	}
	dialogue, err := o.Dialogue()
	if err != nil {
		return nil, err
	}
	return &agent{o, dialogue}, nil
}

type agent struct {
	opts     Options
	dialogue http.Dialogue
}

// Start implements app.Agent.
func (a *agent) Start(ctx context.Context, site app.Site) (app.Session, error) {
	docker, err := connect(ctx)
	if failed, ok := errors.AsType[*app.Error](err); ok {
		return nil, failed
	}
	if err != nil {
		kind := app.Absent
		if a.opts.Required {
			kind = app.Unusable
		}
		return nil, app.Errorf(kind, "Docker, which runs the container, cannot be reached: %w; start it, or set DOCKER_HOST to its address", err)
	}
	return http.Open(ctx, a.dialogue, newPlace(a.opts, site, docker), site)
}
