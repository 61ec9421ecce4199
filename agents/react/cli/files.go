package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

func readAgent(name string) (*agentfile.Agent, error) {
	data, err := input.ReadFile("agent file", name, agentfile.MaxBytes)
	if err != nil {
		return nil, err
	}
	agent, found := ParseAgent(name, data)
	return agent, found.Err()
}

// ParseAgent parses the content of an agent file.
func ParseAgent(name string, data []byte) (*agentfile.Agent, yamlsrc.Diagnostics) {
	agent, err := agentfile.Load(name, data)
	if err == nil {
		return agent, nil
	}
	if found, ok := errors.AsType[yamlsrc.Diagnostics](err); ok {
		return nil, found
	}
	return nil, yamlsrc.Diagnostics{{File: name, Message: err.Error()}}
}

// agentFiles returns the agent files in a folder, in the order of their names.
func agentFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("look for agents: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), agentfile.Suffix) {
			names = append(names, filepath.Join(folder, e.Name()))
		}
	}
	return names, nil
}
