// Command demo is the demo agent by itself, small enough to build an image of in a
// moment.
package main

import (
	"fmt"
	"os"

	"github.com/rehearse-dev/rehearse/harness/app/demo"
)

func main() {
	demo.Main()
	fmt.Fprintf(os.Stderr, "set %s to say what to be\n", demo.Variable)
	os.Exit(2)
}
