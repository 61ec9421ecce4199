package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/source"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// namedFile is a file that was read.
type namedFile struct {
	name string
	data []byte
}

// namedFiles are what arguments name, by kind.
type namedFiles struct {
	plans, agents []namedFile
	rest          []string // scenarios, and what is for their loader to complain of
}

// sortNamed tells plans and agent files from scenarios.
func sortNamed(args []string) namedFiles {
	var named namedFiles
	for _, arg := range args {
		if agents := onlyAgents(arg); len(agents) > 0 {
			named.agents = append(named.agents, agents...)
			continue
		}
		switch kind, data := kindOf(arg); kind {
		case "agent":
			named.agents = append(named.agents, namedFile{arg, data})
		case "plan":
			named.plans = append(named.plans, namedFile{arg, data})
		default:
			named.rest = append(named.rest, arg)
		}
	}
	return named
}

// kindOf tells by a file's name and content whether it is a plan or an agent; it
// is neither if it cannot be read.
func kindOf(name string) (kind string, data []byte) {
	data, err := readFile("file", name, source.MaxBytes)
	switch {
	case err != nil:
		return "", nil
	case strings.HasSuffix(name, agentSuffix):
		return "agent", data
	case source.HasKey(data, "tasks") && !source.HasKey(data, "drive"):
		return "plan", data
	}
	return "", nil
}

// onlyAgents are the agent files of a folder that has no YAML file.
func onlyAgents(name string) []namedFile {
	names, err := agentFiles(name)
	if err != nil || len(names) == 0 {
		return nil // not a folder, or none of agents
	}
	if slices.ContainsFunc(namesIn(name), func(n string) bool {
		return filepath.Ext(n) == ".yaml" || filepath.Ext(n) == ".yml"
	}) {
		return nil
	}
	var agents []namedFile
	for _, file := range names {
		if data, err := os.ReadFile(file); err == nil {
			agents = append(agents, namedFile{file, data})
		}
	}
	return agents
}

// parsePlan reads a plan and the agent files that it names.
func parsePlan(name string, data []byte) (plan.Plan, scenarios.Diagnostics) {
	p, found := plan.Parse(name, data)
	if len(found) > 0 {
		return p, found
	}
	var again plan.Plan
	doc, _ := source.Decode(name, data, &again) // for places
	seen := map[string]bool{}
	for _, worker := range slices.Sorted(maps.Keys(p.Workers)) {
		if p.Workers[worker].React == nil {
			continue
		}
		file := filepath.Join(filepath.Dir(name), filepath.FromSlash(p.Workers[worker].React.Agent))
		content, err := readFile("agent file", file, agentfile.MaxBytes)
		if err != nil {
			found = append(found, doc.At(source.Join("workers", worker)+".react.agent", err.Error(), ""))
			continue
		}
		if !seen[file] {
			_, wrong := parseAgent(file, content)
			found = append(found, wrong...)
		}
		seen[file] = true
	}
	return p, found
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
