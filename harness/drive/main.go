package drive

import (
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/harness/app/demo"
	"github.com/rehearse-dev/rehearse/mocks/agent"
)

// Main plays the part of another program and does not return, if this process was started
// by a driver for that: a scripted command-line agent, a hook of a host, the agent of the
// demonstrations. Otherwise it returns at once. Programs whose Env.Executable is empty call
// it first thing.
func Main() {
	agent.Main()
	demo.Main()
	hook.Main()
}
