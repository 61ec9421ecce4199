package kind

import (
	"fmt"
	"io/fs"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// exampleAgents returns the agent files of a shipped agent by name.
func exampleAgents(name string) (map[string]string, error) {
	folder, err := fixtures.Agent(name)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(folder, "*"+agentfile.Suffix)
	if err != nil {
		return nil, fmt.Errorf("list the agent files of %s: %w", name, err)
	}
	files := make(map[string]string, len(names))
	for _, file := range names {
		data, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, fmt.Errorf("read an agent file of %s: %w", name, err)
		}
		files[file] = string(data)
	}
	return files, nil
}

// exampleTask returns the task of a shipped agent.
func exampleTask(name string) (react.Task, error) {
	folder, err := fixtures.Agent(name)
	if err != nil {
		return react.Task{}, err
	}
	const file = "task.yaml"
	data, err := fs.ReadFile(folder, file)
	if err != nil {
		return react.Task{}, fmt.Errorf("read the task of %s: %w", name, err)
	}
	var t react.Task
	_, found := yamlsrc.Decode(name+"/"+file, data, &t)
	return t, found.Err()
}

// exampleWorkspace returns the workspace of a shipped agent.
func exampleWorkspace(name string) (fs.FS, error) {
	folder, err := fixtures.Agent(name)
	if err != nil {
		return nil, err
	}
	return fs.Sub(folder, "workspace")
}

// Digest adds the files of the shipped agent to the digest of a scenario.
func (s *WorkspaceOptions) Digest(c *scenarios.Checker) {
	folder, err := fixtures.Agent(s.Example)
	if s.Example == "" || err != nil { // Check reports it
		return
	}
	_ = fs.WalkDir(folder, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(folder, file)
		c.Digest([]byte(file))
		c.Digest(data)
		return err
	})
}
