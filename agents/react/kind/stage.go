package kind

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Stage is the folder that agents work in, and who else is there.
type Stage struct {
	// Example is a shipped agent whose workspace is the stage.
	Example string `yaml:"example,omitempty" json:"example,omitempty"`
	// Agents are further agent files, by their names.
	Agents map[string]string `yaml:"agents,omitempty" json:"agents,omitempty"`
	// Files are in the folder at the beginning, by path; Links are symbolic links, by path.
	Files map[string]string `yaml:"files,omitempty" json:"files,omitempty"`
	Links map[string]string `yaml:"links,omitempty" json:"links,omitempty"`
	// Person answers questions, one after the other; after the last nobody does.
	Person []string `yaml:"person,omitempty" json:"person,omitempty"`
}

// Check reports what is wrong with agents, files and links; at is where the stage stands.
func (s *Stage) Check(c *scenarios.Checker, at string) {
	if s.Example != "" {
		if names := examples(); !slices.Contains(names, s.Example) {
			c.Add(at+".example", suggest.Nearest(s.Example, names),
				"there is no shipped agent %q; there are %s", s.Example, strings.Join(names, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		if _, err := agentfile.Load(name, []byte(s.Agents[name])); err != nil {
			c.Add(yamlsrc.Join(at+".agents", name), "", "the agent file cannot be used: %v", err)
		}
	}
	c.Tree(at, "stage", s.Files, s.Links)
}

// CheckAgent reports an agent whose file is not on the stage.
func (s *Stage) CheckAgent(c *scenarios.Checker, at, name string) {
	if _, ok := s.Agents[name]; ok {
		return
	}
	names := slices.Sorted(maps.Keys(s.Agents))
	if s.Example != "" {
		files, err := exampleAgents(s.Example)
		if err != nil {
			return // told above
		}
		if _, ok := files[name]; ok {
			return
		}
		names = append(names, slices.Sorted(maps.Keys(files))...)
	}
	c.Add(at, suggest.Nearest(name, names), "there is no agent file %q on the stage; there are %s", name, strings.Join(names, ", "))
}

// Workspace is the folder that the agents of one trial work in, and whom they may ask.
type Workspace struct {
	Folder string
	Person react.Person
}

// Open makes the workspace of a trial, which removes it.
func (s *Stage) Open(t *drive.Trial) (*Workspace, error) {
	folder, err := os.MkdirTemp("", "rehearse-stage-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	t.Cleanup(func() error { return os.RemoveAll(folder) })
	if s.Example != "" {
		workspace, err := exampleWorkspace(s.Example)
		if err != nil {
			return nil, err
		}
		if err := os.CopyFS(folder, workspace); err != nil {
			return nil, fmt.Errorf("copy the workspace of %s: %w", s.Example, err)
		}
	}
	if err := drive.Furnish(folder, s.Files, s.Links); err != nil {
		return nil, err
	}
	return &Workspace{Folder: folder, Person: &person{answers: s.Person}}, nil
}

// AgentFiles returns the agent files of a stage, by name.
func (s *Stage) AgentFiles() (map[string]string, error) {
	files := map[string]string{}
	if s.Example != "" {
		var err error
		if files, err = exampleAgents(s.Example); err != nil {
			return nil, err
		}
	}
	maps.Copy(files, s.Agents)
	return files, nil
}

// load loads them, by the names of their files.
func (s *Stage) load() (map[string]*agentfile.Agent, error) {
	files, err := s.AgentFiles()
	if err != nil {
		return nil, err
	}
	agents := make(map[string]*agentfile.Agent, len(files))
	for name, text := range files {
		if agents[name], err = agentfile.Load(name, []byte(text)); err != nil {
			return nil, err
		}
	}
	return agents, nil
}

// Actions returns the actions of an agent in the workspace. They have no clock of the
// trial's: programs live in real time.
func (w *Workspace) Actions(a *agentfile.Agent) (action.Set, error) {
	return action.New(a, action.Options{Workspace: w.Folder})
}

// RecordFiles reports each file that is in the workspace at the end, so that a scenario
// can expect something of it.
func (w *Workspace) RecordFiles(sink event.Sink) error {
	return drive.RecordFiles(w.Folder, sink.Emit)
}

// person gives the answers of a list, and then none. It is not safe for concurrent use.
type person struct{ answers []string }

// Ask implements react.Person.
func (p *person) Ask(context.Context, string, string) (string, bool) {
	if len(p.answers) == 0 {
		return "", false
	}
	answer := p.answers[0]
	p.answers = p.answers[1:]
	return answer, true
}
