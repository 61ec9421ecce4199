// Command rehearse drives LLM agents against scripted backends and reports what they
// did, what it cost and whether that is as expected.
package main

import (
	"os"

	"github.com/rehearse-dev/rehearse/cli"
	"github.com/rehearse-dev/rehearse/kinds"
)

func main() { os.Exit(cli.Main(kinds.All())) }
