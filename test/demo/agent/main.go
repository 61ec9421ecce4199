// Command agent is the demo agent as a program of its own, small enough to build an
// image of it in a moment.
package main

import (
	"fmt"
	"os"

	"github.com/rehearse-dev/rehearse/test/demo"
)

func main() {
	demo.Main()
	fmt.Fprintf(os.Stderr, "set %s to choose the form of the agent\n", demo.Variable)
	os.Exit(2)
}
