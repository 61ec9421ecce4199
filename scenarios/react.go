package scenarios

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// ReactDrive runs a ReAct agent on a task. Its own keys are those of react.Options.
type ReactDrive struct {
	react.Options `yaml:",inline"`
	// Agent names the agent's file on the stage; default: that of Example.
	Agent string `yaml:"agent,omitempty" json:"agent,omitempty"`
	// Task is what it is asked for; default: that of Example.
	Task  react.Task `yaml:"task,omitempty" json:"task,omitzero"`
	Stage `yaml:",inline"`
	// InterruptAfter is when the user presses Ctrl-C, on the trial's clock.
	InterruptAfter quantity.Duration `yaml:"interrupt_after,omitempty" json:"interrupt_after,omitempty"`
}

func (c *checker) checkReact(d *ReactDrive) []string {
	const at = "drive.react"
	c.checkStage(at, &d.Stage)
	switch {
	case d.Agent != "":
		c.checkAgentName(at+".agent", d.Agent, &d.Stage)
	case d.Example == "":
		c.add(at, "", "no agent is named; write agent: and its file under agents:, or example: with one of %s", strings.Join(Examples(), ", "))
	}
	var statuses []string
	for _, s := range react.Statuses() {
		statuses = append(statuses, string(s.Status))
	}
	return statuses
}
