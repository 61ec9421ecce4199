package drive

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// furnish puts files and links in a folder.
func furnish(folder string, s *scenarios.Stage) error {
	put := func(name string, make func(path string) error) error {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", name, err)
		}
		return make(path)
	}
	for name, text := range s.Files {
		if err := put(name, func(path string) error { return os.WriteFile(path, []byte(text), 0o644) }); err != nil {
			return fmt.Errorf("write a file of the stage: %w", err)
		}
	}
	for name, target := range s.Links {
		if err := put(name, func(path string) error { return os.Symlink(target, path) }); err != nil {
			return fmt.Errorf("make a link of the stage: %w", err)
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

// maxShownFile is how much of a file the recording tells, in bytes.
const maxShownFile = 2000

// left tells of each file that is on the stage at the end, so that a scenario can
// expect something of it.
func (s *stage) left(sink event.Sink) error {
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return fmt.Errorf("open the stage: %w", err)
	}
	defer root.Close()
	var names []string
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("list the stage: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := root.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read what is left on the stage: %w", err)
		}
		sink.Tell(event.Event{
			Kind: event.State, Name: "file", Detail: strings.ToValidUTF8(string(data[:min(len(data), maxShownFile)]), ""),
			Attrs: map[string]any{"path": name, "bytes": len(data)},
		})
	}
	return nil
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
