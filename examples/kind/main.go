// Command translator is rehearse with an additional kind of agent.
package main

import (
	"os"

	"example.com/translator/translate"
	"github.com/rehearse-dev/rehearse/cli"
	"github.com/rehearse-dev/rehearse/kinds"
)

func main() {
	os.Exit(cli.Main(append(kinds.All(), translate.Kind())))
}
