package cli

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// starterKind is a kind of agent that init writes a scenario for.
type starterKind struct {
	name, about string
	scenario    string   // the template below starter/scenarios
	extension   string   // of the example program; empty without one
	sdks        []string // of the example program
	model       string   // of the scenario
}

// starterKinds are the kinds in the order of questions.
func starterKinds() []starterKind {
	all := []string{"none", "openai", "anthropic"}
	const model, claude = "gpt-4.1-mini", "claude-sonnet-4-5"
	return []starterKind{
		{name: "program", about: "a program in any language that reads standard input", scenario: "command", model: model},
		{name: "http", about: "an HTTP application", scenario: "http", model: model},
		{name: "node", about: "a program in Node", scenario: "command", extension: "mjs", sdks: all, model: model},
		{name: "python", about: "a program in Python", scenario: "command", extension: "py", sdks: all, model: model},
		{name: "go", about: "a program in Go", scenario: "command", extension: "go", sdks: all[:2], model: model},
		{name: "claude", about: "Claude Code", scenario: "coding", model: claude},
		{name: "codex", about: "Codex", scenario: "coding", model: "gpt-5"},
		{name: "copilot", about: "Copilot", scenario: "coding", model: model},
		{name: "opencode", about: "OpenCode", scenario: "coding", model: model},
		{name: "qwen", about: "Qwen Code", scenario: "coding", model: model},
		{name: "loop", about: "a prompt in the runner loop (rehearse loop)", scenario: "loop", model: model},
	}
}

// findStarterKind returns the kind of a name.
func findStarterKind(name string) (starterKind, error) {
	var names []string
	for _, k := range starterKinds() {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	return starterKind{}, fmt.Errorf("--kind: there is no kind of agent %q%s; choose from %s",
		name, suggest.Hint(name, names), strings.Join(names, ", "))
}

// starterData fills in the templates.
type starterData struct {
	Kind, Schema, Model, Scenario string
	// Run is the list of the program and its arguments in YAML. FillIn is true if it is a placeholder.
	Run    string
	FillIn bool
	// Setup are the commands to run before the scenario, and Install those that a workflow runs before it. Baseline is
	// true if the project has one.
	Setup, Install []string
	Baseline       bool

	example string   // the name of the example program; empty without one
	module  bool     // a go.mod is needed
	ignore  []string // for .gitignore
}

// plan returns the template for a kind of agent and its data: with the user's program, a path below the folder,
// or with an example. hasModule is true if the folder has a go.mod.
func (k starterKind) plan(sdk, program string, hasModule bool) (template string, d starterData) {
	d = starterData{Kind: k.name, Model: k.model, Scenario: "scenarios/agent.yaml", ignore: []string{runsFolder + "/"}}
	if sdk == "anthropic" {
		d.Model = "claude-sonnet-4-5"
	}
	template = k.scenario
	switch {
	case program != "":
		d.Run = runList(interpreter(program), program)
	case k.name == "program":
		return "curl", d
	case k.name == "http":
		d.Run, d.FillIn = runList("node", "server.mjs"), true
	case k.name == "go":
		d.example, d.Run = "cmd/agent/main.go", runList("", "bin/agent")
		d.Setup, d.ignore, d.module = goSetup(sdk), append(d.ignore, "bin/"), !hasModule
	case k.extension != "":
		d.example = "agent." + k.extension
		d.Run = runList(interpreter(d.example), d.example)
		d.Setup = installSDK(k.name, sdk)
	}
	return template, d
}

// goSetup returns the command that builds the example. With -mod=mod it also fetches the SDK and adds it to
// go.mod and go.sum.
func goSetup(sdk string) []string {
	if sdk == "none" {
		return []string{"go build -o bin/agent ./cmd/agent"}
	}
	return []string{"go build -mod=mod -o bin/agent ./cmd/agent"}
}

// interpreter returns the program that runs a file; empty if the file is executable.
func interpreter(file string) string {
	switch path.Ext(file) {
	case ".mjs", ".js", ".cjs", ".mts", ".ts":
		return "node"
	case ".py":
		return "python3"
	case ".sh":
		return "sh"
	}
	return ""
}

// runList returns the list in YAML that starts a file of the project.
func runList(interpreter, file string) string {
	words := []string{quoteYAML("{here}/../" + file)}
	if interpreter != "" {
		words = slices.Insert(words, 0, interpreter)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// quoteYAML quotes a text as JSON, which is valid YAML.
func quoteYAML(text string) string {
	data, _ := json.Marshal(text) // a string can always be encoded
	return string(data)
}

// ignoring adds the missing lines to the text of a .gitignore.
func ignoring(text string, lines []string) (changed string, added bool) {
	have := strings.Fields(text)
	for _, line := range lines {
		name := strings.Trim(line, "/")
		if slices.ContainsFunc(have, func(h string) bool { return strings.Trim(h, "/") == name }) {
			continue
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text, added = text+line+"\n", true
	}
	return text, added
}
