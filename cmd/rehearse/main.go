// Command rehearse drives LLM agents against scripted backends and reports what they
// did, what it cost and whether that is as expected.
package main

import (
	"os"

	"github.com/rehearse-dev/rehearse/internal/child"
)

func main() {
	// These do not return where this process is to be a host's hook, or to play a
	// scripted agent.
	agentKinds.Main()
	child.HideProcess() // from the agents that it starts
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
