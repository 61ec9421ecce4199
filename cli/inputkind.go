package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// inputKind is the kind of an input file that is not a scenario, derived from its name and keys.
type inputKind string

const (
	planInput       inputKind = "plan"
	agentInput      inputKind = "agent"
	taskInput       inputKind = "task" // the input of an agent
	experimentInput inputKind = "experiment"
)

// commandsOf has the command that takes a file of a kind.
var commandsOf = map[inputKind]string{planInput: "supervise", agentInput: "react", experimentInput: "experiment"}

// refuseOtherKinds returns an error for a file that is not a scenario and names the command that
// takes it. Other files are left to the scenario loader.
func refuseOtherKinds(patterns []string) error {
	for _, name := range patterns {
		kind, _ := kindOfFile(name)
		if command := commandsOf[kind]; command != "" {
			return otherKind(name, string(kind), command)
		}
	}
	return nil
}

// refuseScenario returns an error for a file that is a scenario.
func refuseScenario(name string) error {
	data, err := input.ReadFile("file", name, yamlsrc.MaxBytes)
	if err == nil && isYAML(name) {
		if doc, _ := yamlsrc.Parse(name, data); doc.Has("drive") {
			return otherKind(name, "scenario", "run")
		}
	}
	return nil // the loader of the file reports a file that cannot be read
}

func otherKind(name, kind, command string) error {
	article := "a"
	if strings.ContainsRune("aeiou", rune(kind[0])) {
		article = "an"
	}
	return fmt.Errorf("%s is %s %s; use: %s", name, article, kind, format.ShellLine("rehearse", command, name))
}

// inputKinds returns all kinds, in the order of checking.
func inputKinds() []inputKind { return []inputKind{planInput, agentInput, taskInput, experimentInput} }

// agentSuffix ends the names of agent files.
const agentSuffix = ".agent.md"

type inputFile struct {
	Name string
	Data []byte
}

// sortFiles reads the files that args name and returns them by kind. rest has the scenarios and
// the arguments that their loader rejects.
func sortFiles(args []string) (files map[inputKind][]inputFile, rest []string) {
	files = map[inputKind][]inputFile{}
	for _, arg := range args {
		names := []string{arg}
		if folder := inputFilesIn(arg); len(folder) > 0 {
			names = folder
		}
		for _, name := range names {
			if kind, data := kindOfFile(name); kind != "" {
				files[kind] = append(files[kind], inputFile{name, data})
			} else {
				rest = append(rest, name)
			}
		}
	}
	return files, rest
}

// otherFile is a file in a folder of scenarios that another command takes.
type otherFile struct {
	inputFile
	kind inputKind
}

// refusal returns an error that names the command.
func (f otherFile) refusal() error { return otherKind(f.Name, string(f.kind), commandsOf[f.kind]) }

// kindOfFile returns the kind and content of a file; empty for a scenario and for a file that cannot
// be read.
func kindOfFile(name string) (inputKind, []byte) {
	isAgent := strings.HasSuffix(name, agentSuffix)
	if !isAgent && !isYAML(name) {
		return "", nil
	}
	data, err := input.ReadFile("file", name, yamlsrc.MaxBytes)
	if err != nil {
		return "", nil
	}
	kind := agentInput
	if !isAgent {
		doc, _ := yamlsrc.Parse(name, data)
		kind = kindOfKeys(doc.Has)
	}
	if kind == "" {
		return "", nil
	}
	return kind, data
}

// kindOfKeys returns the kind of a YAML file, derived from its keys; empty for a scenario.
func kindOfKeys(has func(key string) bool) inputKind {
	switch {
	case has("drive"):
		return ""
	case has("tasks"):
		return planInput
	case has("primary") || has("variants") || has("tune"):
		return experimentInput
	case has("do") || has("input"):
		return taskInput
	}
	return ""
}

func isYAML(name string) bool { return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) }

// inputFilesIn returns the input files in a folder without scenarios. A folder with other YAML
// files is left to the scenario loader.
func inputFilesIn(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // not a folder
	}
	var files []string
	for _, e := range entries {
		name := filepath.Join(folder, e.Name())
		kind, _ := kindOfFile(name)
		switch {
		case kind != "":
			files = append(files, name)
		case isYAML(name):
			return nil
		}
	}
	return files
}
