// Package filekind tells the kinds of YAML files beside scenarios apart, by their names and
// keys: plans, agents, tasks and experiments.
package filekind

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Kind is what a file is.
type Kind string

// The kinds.
const (
	Plan       Kind = "plan"
	Agent      Kind = "agent"
	Task       Kind = "task" // the input of an agent
	Experiment Kind = "experiment"
)

// All returns all kinds, in the order in which they are checked.
func All() []Kind { return []Kind{Plan, Agent, Task, Experiment} }

// agentSuffix ends the names of agent files.
const agentSuffix = ".agent.md"

// File is a file that was read.
type File struct {
	Name string
	Data []byte
}

// Sort reads the files that arguments name, and returns them by kind. rest are scenarios, and
// arguments that their loader reports as wrong.
func Sort(args []string) (files map[Kind][]File, rest []string) {
	files = map[Kind][]File{}
	for _, arg := range args {
		names := []string{arg}
		if folder := inFolder(arg); len(folder) > 0 {
			names = folder
		}
		for _, name := range names {
			if kind, data := of(name); kind != "" {
				files[kind] = append(files[kind], File{name, data})
			} else {
				rest = append(rest, name)
			}
		}
	}
	return files, rest
}

// of returns the kind and content of a file; empty for a scenario and for a file that cannot
// be read.
func of(name string) (Kind, []byte) {
	isAgent := strings.HasSuffix(name, agentSuffix)
	if !isAgent && !isYAML(name) {
		return "", nil
	}
	data, err := input.ReadFile("file", name, yamlsrc.MaxBytes)
	has := func(key string) bool { return yamlsrc.HasKey(data, key) }
	switch {
	case err != nil:
		return "", nil
	case isAgent:
		return Agent, data
	case has("drive"):
		return "", nil
	case has("tasks"):
		return Plan, data
	case has("primary") || has("variants") || has("tune"):
		return Experiment, data
	case has("do") || has("input"):
		return Task, data
	}
	return "", nil
}

func isYAML(name string) bool { return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) }

// inFolder returns the files of these kinds in a folder that holds no other YAML file: those
// of a folder with scenarios are found by their loader.
func inFolder(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // not a folder
	}
	var files []string
	for _, e := range entries {
		name := filepath.Join(folder, e.Name())
		kind, _ := of(name)
		switch {
		case kind != "":
			files = append(files, name)
		case isYAML(name):
			return nil
		}
	}
	return files
}
