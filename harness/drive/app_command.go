package drive

import (
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/app/command"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// commandAgent is the program that the scenario names.
func commandAgent(sc scenarios.Scenario, env *Env) (app.Agent, error) {
	d := sc.Drive.Command
	run, vars, err := program(sc, d.Process, env)
	if err != nil {
		return nil, err
	}
	return command.New(command.Config{
		Run: run, Env: vars, Input: d.Input, Lives: d.Lives, Output: d.Output, Answer: d.Answer,
	})
}
