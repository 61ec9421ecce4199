// Command agent is the demo agent as a separate program, for images and scenarios.
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
