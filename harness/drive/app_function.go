package drive

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// functionAgent is the Go function that the scenario names.
func functionAgent(d *scenarios.FunctionDrive, env *Env) (app.Agent, error) {
	maker, ok := env.Functions[d.Name]
	if !ok {
		names := slices.Sorted(maps.Keys(env.Functions))
		return nil, fmt.Errorf("the Go function %q is not registered (registered: %s); functions are driven from Go, by package harness", d.Name, strings.Join(names, ", "))
	}
	return function(maker), nil
}

type function app.Maker

// Start implements app.Agent.
func (f function) Start(_ context.Context, site app.Site) (app.Session, error) {
	return &functionSession{site: site, say: f()}, nil
}

type functionSession struct {
	site app.Site
	say  app.Function
}

// Say implements app.Session.
func (s *functionSession) Say(ctx context.Context, text string) (app.Answer, error) {
	answer, err := s.say(ctx, s.site, text)
	if err != nil {
		return app.Answer{}, app.Errorf(app.Failed, "the function failed: %w", err)
	}
	return app.Answer{Text: answer}, nil
}

// End implements app.Session.
func (s *functionSession) End(context.Context) error { return nil }
