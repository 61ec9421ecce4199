package work

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
)

// loadAgents reads an agent file in a folder, and the agents beside it, to which it may delegate, by
// id.
func loadAgents(folder, file string) (*agentfile.Agent, map[string]*agentfile.Agent, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("open the folder of the agents: %w", err)
	}
	defer root.Close()
	file = path.Clean(filepath.ToSlash(file))
	agent, err := loadAgent(root, file)
	if err != nil {
		return nil, nil, err
	}
	entries, err := fs.ReadDir(root.FS(), path.Dir(file))
	if err != nil {
		return nil, nil, fmt.Errorf("list the agents beside %s: %w", file, err)
	}
	agents := map[string]*agentfile.Agent{agent.ID: agent}
	var problems []error
	for _, e := range entries {
		name := path.Join(path.Dir(file), e.Name())
		if !strings.HasSuffix(name, agentfile.Suffix) || name == file {
			continue
		}
		beside, err := loadAgent(root, name)
		switch {
		case err != nil:
			problems = append(problems, err)
		case agents[beside.ID] != nil:
			problems = append(problems, fmt.Errorf("%s and %s have the same id %q", agents[beside.ID].File, name, beside.ID))
		default:
			agents[beside.ID] = beside
		}
	}
	return agent, agents, errors.Join(problems...)
}

func loadAgent(root *os.Root, name string) (*agentfile.Agent, error) {
	info, err := root.Stat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > agentfile.MaxBytes) {
		err = fmt.Errorf("%s is not a file of at most %d bytes", name, agentfile.MaxBytes)
	}
	var data []byte
	if err == nil {
		data, err = root.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("read the agent: %w", err)
	}
	return agentfile.Load(name, data)
}
