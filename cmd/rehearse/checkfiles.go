package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
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
	if !strings.HasSuffix(name, agentSuffix) && !isYAML(name) {
		return "", nil
	}
	data, err := input.ReadFile("file", name, yamlsrc.MaxBytes)
	switch {
	case err != nil:
		return "", nil
	case strings.HasSuffix(name, agentSuffix):
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
		_, found := parsePlan(f.name, f.data)
		return found
	case isAgent:
		_, found := parseAgent(f.name, f.data)
		return found
	case isExperiment:
		_, found := experiment.Load(f.name, kinds.Language(), scenarioOptions(prices))
		return found
	}
	_, found := yamlsrc.Decode(f.name, f.data, &react.Task{})
	return found
}

// parsePlan reads a plan and the agent files that it names.
func parsePlan(name string, data []byte) (plan.Plan, scenarios.Diagnostics) {
	p, found := plan.Parse(name, data)
	if len(found) > 0 {
		return p, found
	}
	var again plan.Plan
	doc, _ := yamlsrc.Decode(name, data, &again) // for places
	seen := map[string]bool{}
	for _, worker := range slices.Sorted(maps.Keys(p.Workers)) {
		if p.Workers[worker].React == nil {
			continue
		}
		file := filepath.Join(filepath.Dir(name), filepath.FromSlash(p.Workers[worker].React.Agent))
		content, err := input.ReadFile("agent file", file, agentfile.MaxBytes)
		if err != nil {
			found = append(found, doc.At(yamlsrc.Join("workers", worker)+".react.agent", err.Error(), ""))
			continue
		}
		agent, wrong := parseAgent(file, content)
		if !seen[file] {
			found = append(found, wrong...)
		}
		seen[file] = true
		if agent != nil {
			found = append(found, missingInputs(doc, p, worker, agent)...)
		}
	}
	found.Sort()
	return p, found
}

// missingInputs are the tasks of a worker that its agent would hand back at once,
// for what its contract requires.
func missingInputs(doc *yamlsrc.Document, p plan.Plan, worker string, agent *agentfile.Agent) (found scenarios.Diagnostics) {
	for i, task := range p.Tasks {
		if task.Worker() != worker {
			continue
		}
		for _, in := range agent.Contract.Inputs {
			if _, given := task.Input[in.Name]; in.Required && !given {
				found = append(found, doc.At(fmt.Sprintf("tasks[%d].input", i),
					fmt.Sprintf("the agent %s requires the input %q, which is not given", agent.ID, in.Name), ""))
			}
		}
	}
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
