// Package cli is the command line of rehearse, for programs with kinds of agents of their
// own: a file per command, which parses flags, calls a package and prints its document.
package cli

import (
	"os"

	"github.com/rehearse-dev/rehearse/internal/sandbox"

	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/internal/child"
)

// Main runs the command line of a program that knows these kinds of agents, and returns its
// exit code. The program's main function calls it first: in a process that was started to
// play another part, such as a host's hook, Main does not return.
func Main(kinds kind.List) int {
	sandbox.Main()
	kinds.Main()
	child.HideProcess() // from the agents that it starts
	return run(kinds, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
