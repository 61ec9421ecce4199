package drive

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/app/web"
	"github.com/rehearse-dev/rehearse/internal/httpturn"
	"github.com/rehearse-dev/rehearse/internal/jsonpath"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// webAgent is the HTTP application that the scenario names.
func webAgent(sc scenarios.Scenario, env *Env) (app.Agent, error) {
	d := sc.Drive.HTTP
	dialogue, err := dialogueOf(d.Web)
	if err != nil {
		return nil, err
	}
	if d.URL != "" {
		return web.There(dialogue, d.URL)
	}
	run, vars, err := program(sc, d.Process, env)
	if err != nil {
		return nil, err
	}
	return web.Program{Run: run, Env: vars}.Agent(dialogue)
}

// dialogueOf compiles how an application is spoken to.
func dialogueOf(w scenarios.Web) (d web.Dialogue, err error) {
	d = web.Dialogue{Health: w.Health, HealthTimeout: w.HealthTimeout.Std()}
	if d.Request, err = httpturn.Compile(httpturn.Request(w.Request)); err != nil {
		return d, fmt.Errorf("the request of a turn: %w", err)
	}
	for _, path := range []struct {
		name, text string
		to         *jsonpath.Path
	}{{"answer", w.Answer, &d.Answer}, {"session", w.Session, &d.Session}} {
		if path.text == "" {
			continue
		}
		if *path.to, err = jsonpath.Parse(path.text); err != nil {
			return d, fmt.Errorf("%s: %w", path.name, err)
		}
	}
	return d, nil
}
