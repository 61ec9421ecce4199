// Package config reads the configuration file rehearse.yaml.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios/requirement"
)

// Name is the name of the file in the current folder.
const Name = "rehearse.yaml"

// File is the configuration file rehearse.yaml.
type File struct {
	// Loop has the defaults of the runner loop.
	Loop loop.Options `yaml:"loop,omitempty" json:"loop,omitempty"`
	// Requirements are those that scenarios prove.
	Requirements requirement.Config `yaml:"requirements,omitempty" json:"requirements,omitzero"`
}

// Read reads a configuration file; an empty name is that of Name, which need not be there.
// loop.Resolve validates the values of Loop together with the options that override them.
func Read(name string) (File, error) {
	var config File
	file := name
	if file == "" {
		file = Name
	}
	data, err := os.ReadFile(file)
	if name == "" && errors.Is(err, fs.ErrNotExist) {
		return config, nil
	}
	if err != nil {
		return config, fmt.Errorf("read the configuration file: %w", err)
	}
	doc, found := yamlsrc.Decode(file, data, &config)
	found = append(found, config.Requirements.Problems(doc, "requirements")...)
	return config, found.Err()
}

// Requirements returns the rule for the ids of requirements of the configuration file in the current folder.
func Requirements() (*requirement.Rule, error) {
	config, err := Read("")
	if err != nil {
		return nil, err
	}
	return config.Requirements.Rule(filepath.Dir(Name))
}
