package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	persistcli "github.com/rehearse-dev/rehearse/agents/persist/cli"
	"github.com/rehearse-dev/rehearse/agents/react"
	reactcli "github.com/rehearse-dev/rehearse/agents/react/cli"
	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// namedFile is a file that was read.
type namedFile struct {
	name string
	data []byte
}

// kind is what a file is.
type kind string

// The kinds of files beside scenarios.
const (
	isPlan  kind = "plan"
	isAgent kind = "agent"
	isTask  kind = "task" // the input of an agent
	// isExperiment is what compares variants of an agent in scenarios.
	isExperiment kind = "experiment"
)

// fileKinds returns all of them, in the order in which they are checked.
func fileKinds() []kind { return []kind{isPlan, isAgent, isTask, isExperiment} }

// namedFiles are what arguments name.
type namedFiles struct {
	of   map[kind][]namedFile
	rest []string // scenarios, and what is for their loader to complain of
}

// sortNamed tells files of other kinds from scenarios.
func sortNamed(args []string) namedFiles {
	named := namedFiles{of: map[kind][]namedFile{}}
	for _, arg := range args {
		files := []string{arg}
		if folder := filesOf(arg); len(folder) > 0 {
			files = folder
		}
		for _, file := range files {
			if k, data := kindOf(file); k != "" {
				named.of[k] = append(named.of[k], namedFile{file, data})
			} else {
				named.rest = append(named.rest, file)
			}
		}
	}
	return named
}

// kindOf tells by a file's name and content what it is; it is nothing if it is a
// scenario or cannot be read.
func kindOf(name string) (kind, []byte) {
	if !strings.HasSuffix(name, reactcli.Suffix) && !isYAML(name) {
		return "", nil
	}
	data, err := input.ReadFile("file", name, yamlsrc.MaxBytes)
	switch {
	case err != nil:
		return "", nil
	case strings.HasSuffix(name, reactcli.Suffix):
		return isAgent, data
	case yamlsrc.HasKey(data, "drive"):
		return "", nil
	case yamlsrc.HasKey(data, "tasks"):
		return isPlan, data
	case yamlsrc.HasKey(data, "primary") || yamlsrc.HasKey(data, "variants") || yamlsrc.HasKey(data, "tune"):
		return isExperiment, data
	case yamlsrc.HasKey(data, "do") || yamlsrc.HasKey(data, "input"):
		return isTask, data
	}
	return "", nil
}

func isYAML(name string) bool { return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) }

// filesOf are the agents, plans, tasks and experiments of a folder that holds no other YAML
// file: those of one with scenarios are found by their loader.
func filesOf(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // not a folder
	}
	var files []string
	for _, e := range entries {
		name := filepath.Join(folder, e.Name())
		k, _ := kindOf(name)
		switch {
		case k != "":
			files = append(files, name)
		case isYAML(name):
			return nil
		}
	}
	return files
}

// parse says what is wrong with a file of a kind.
func (f namedFile) parse(k kind, prices *price.Table) scenarios.Diagnostics {
	switch k {
	case isPlan:
		_, found := persistcli.ParsePlan(f.name, f.data)
		return found
	case isAgent:
		_, found := reactcli.ParseAgent(f.name, f.data)
		return found
	case isExperiment:
		_, found := experiment.Load(f.name, kinds.Language(), scenarioOptions(prices))
		return found
	}
	_, found := yamlsrc.Decode(f.name, f.data, &react.Task{})
	return found
}

// withDiagnostics adds what an error says is wrong with files; any other error is
// returned.
func withDiagnostics(found scenarios.Diagnostics, err error) (scenarios.Diagnostics, error) {
	if err == nil {
		return found, nil
	}
	more, ok := errors.AsType[scenarios.Diagnostics](err)
	if !ok {
		return found, err
	}
	return append(found, more...), nil
}
