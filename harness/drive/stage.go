package drive

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// stage is the folder that the agents of one trial work in, and whom they may ask.
type stage struct {
	folder string
	person *person
}

// newStage sets a stage up; t removes it.
func newStage(s *scenarios.Stage, t *trial) (*stage, error) {
	folder, err := os.MkdirTemp("", "rehearse-stage-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	t.closers = append(t.closers, func() error { return os.RemoveAll(folder) })
	if s.Example != "" {
		workspace, err := scenarios.ExampleWorkspace(s.Example)
		if err != nil {
			return nil, err
		}
		if err := os.CopyFS(folder, workspace); err != nil {
			return nil, fmt.Errorf("copy the workspace of %s: %w", s.Example, err)
		}
	}
	if err := furnish(folder, s); err != nil {
		return nil, err
	}
	return &stage{folder: folder, person: &person{answers: s.Person}}, nil
}

// furnish puts files and links in a folder, in the order of their names. A path that leaves
// the folder, be it by a link in it, is an error.
func furnish(folder string, s *scenarios.Stage) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("open the folder of the stage: %w", err)
	}
	defer root.Close()
	put := func(kind, name string, make func(path string) error) error {
		file := filepath.FromSlash(name)
		err := root.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = make(file)
		}
		if err != nil {
			return fmt.Errorf("put the %s %s on the stage: %w", kind, name, err)
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		err := put("file", name, func(path string) error { return root.WriteFile(path, []byte(s.Files[name]), 0o644) })
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Links)) {
		err := put("link", name, func(path string) error { return root.Symlink(s.Links[name], path) })
		if err != nil {
			return err
		}
	}
	return nil
}

// stageFiles are the agent files of a stage, by name.
func stageFiles(s *scenarios.Stage) (map[string]string, error) {
	files := map[string]string{}
	if s.Example != "" {
		var err error
		if files, err = scenarios.ExampleAgents(s.Example); err != nil {
			return nil, err
		}
	}
	maps.Copy(files, s.Agents)
	return files, nil
}

// stageAgents loads them, by the names of their files.
func stageAgents(s *scenarios.Stage) (map[string]*agentfile.Agent, error) {
	files, err := stageFiles(s)
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

// left tells of each file that is on the stage at the end, so that a scenario can
// expect something of it.
func (s *stage) left(sink event.Sink) error {
	return left(s.folder, func(name, detail string, attrs map[string]any) {
		sink.Tell(event.Event{Kind: event.State, Name: name, Detail: detail, Attrs: attrs})
	})
}

// person answers from a list, and then no more. One agent at a time asks.
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
