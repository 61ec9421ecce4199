package drive

import (
	"errors"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func containerAgent(sc scenarios.Scenario, env *Env) (app.Agent, error) {
	return nil, errors.New("not driven yet")
}
