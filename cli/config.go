package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/rehearse-dev/rehearse/agents/loop"
	loopkind "github.com/rehearse-dev/rehearse/agents/loop/kind"
)

// configFile is read from the current folder.
const configFile = "rehearse.yaml"

// readConfig reads the loop's section of a configuration file. The default file
// need not be there; one that was named must.
func readConfig(name string) (loop.Options, error) {
	file := name
	if file == "" {
		file = configFile
	}
	data, err := os.ReadFile(file)
	if name == "" && errors.Is(err, fs.ErrNotExist) {
		return loop.Options{}, nil
	}
	if err != nil {
		return loop.Options{}, fmt.Errorf("read the configuration file: %w", err)
	}
	config, diagnostics := loopkind.ParseConfig(file, data)
	return config.Loop, diagnostics.Err()
}
