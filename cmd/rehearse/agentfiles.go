package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// agentSuffix ends the names of agent files.
const agentSuffix = ".agent.md"

// readAgent reads an agent file.
func readAgent(name string) (*agentfile.Agent, error) {
	data, err := input.ReadFile("agent file", name, agentfile.MaxBytes)
	if err != nil {
		return nil, usage(err)
	}
	agent, found := parseAgent(name, data)
	if len(found) > 0 {
		return nil, usage(found)
	}
	return agent, nil
}

// parseAgent reads an agent file.
func parseAgent(name string, data []byte) (*agentfile.Agent, scenarios.Diagnostics) {
	agent, err := agentfile.Load(name, data)
	if err == nil {
		return agent, nil
	}
	if found, ok := errors.AsType[yamlsrc.Diagnostics](err); ok {
		return nil, found
	}
	return nil, scenarios.Diagnostics{{File: name, Message: err.Error()}}
}

// agentFiles are the agent files in a folder, in the order of their names.
func agentFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("look for agents: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), agentSuffix) {
			names = append(names, filepath.Join(folder, e.Name()))
		}
	}
	return names, nil
}
