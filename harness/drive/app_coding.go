package drive

import (
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/app/coding"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// codingAgent is the program of a real coding agent.
func codingAgent(sc scenarios.Scenario, env *Env) (app.Agent, error) {
	d := sc.Drive.Coding
	return coding.New(coding.Config{
		Agent: d.Agent, Model: sc.Backend.Model, Retries: d.Retries,
		Guard: stop.Policy(d.Guard), Executable: env.Executable, Required: d.Required,
	}, &env.programs)
}
