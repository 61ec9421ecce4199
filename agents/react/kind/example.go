package kind

import (
	"fmt"
	"io/fs"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// agentSuffix ends the names of agent files.
const agentSuffix = ".agent.md"

// examples lists the shipped agents, which are folders with agent files, a task
// and a workspace.
func examples() []string { return fixtures.Agents() }

// exampleAgents are the agent files of a shipped agent, by name; its own is
// called after it.
func exampleAgents(name string) (map[string]string, error) {
	folder, err := fixtures.Agent(name)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(folder, "*"+agentSuffix)
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

// exampleAgent is the name of the own file of a shipped agent.
func exampleAgent(name string) string { return name + agentSuffix }

// exampleTask is the task that a shipped agent comes with.
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

// exampleWorkspace is the folder that a shipped agent works in.
func exampleWorkspace(name string) (fs.FS, error) {
	folder, err := fixtures.Agent(name)
	if err != nil {
		return nil, err
	}
	return fs.Sub(folder, "workspace")
}

// Digest adds what the shipped agent of a stage consists of to the digest of a scenario.
func (s *Stage) Digest(c *scenarios.Checker) {
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
