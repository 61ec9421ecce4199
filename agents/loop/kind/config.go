package kind

import (
	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Config is the configuration file rehearse.yaml.
type Config struct {
	// Loop has the defaults of the runner loop.
	Loop loop.Options `yaml:"loop,omitempty" json:"loop,omitempty"`
}

// ParseConfig reads a configuration file. loop.Resolve validates the values together with the
// options that override them.
func ParseConfig(file string, data []byte) (Config, yamlsrc.Diagnostics) {
	var config Config
	_, found := yamlsrc.Decode(file, data, &config)
	return config, found
}
