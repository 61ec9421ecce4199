// Package main is tested as users run it: every command of the program with an additional kind
// of agent.
package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program is the built program, in a folder with a copy of the scenarios.
type program struct {
	*testing.T
	path, folder string
}

func build(t *testing.T) program {
	p := program{t, filepath.Join(t.TempDir(), "translator"), t.TempDir()}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", p.path, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if err := os.CopyFS(filepath.Join(p.folder, "scenarios"), os.DirFS("scenarios")); err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs a command, which must end with an exit code, and returns what it printed.
func (p program) run(code int, args ...string) string {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), p.path, args...)
	cmd.Dir = p.folder
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		p.Fatalf("%s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

func (p program) file(name string) string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.folder, name))
	if err != nil {
		p.Fatal(err)
	}
	return string(data)
}

func (p program) write(name, text string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

func (p program) contains(text string, parts ...string) {
	p.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			p.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

func TestEveryCommandKnowsTheKind(t *testing.T) {
	p := build(t)
	p.contains(p.run(0, "check"), "2 scenarios")
	p.run(0, "run", "--out", "one", "--html")
	p.run(0, "run", "--out", "two", "--workers", "2")
	if one, two := p.file("one/recording.jsonl"), p.file("two/recording.jsonl"); one != two {
		t.Error("two runs write different recordings")
	}
	p.contains(p.file("one/report.html"), "Translations", "3 texts")
	p.contains(p.file("one/report.json"), `"translate_characters_per_text"`)

	p.contains(p.run(0, "explore", "translate/letters", "--out", "off"), "pass translate/letters")
	p.contains(p.file("off/explore.json"), "no-text-lost")

	p.run(0, "bless", "one")
	p.run(0, "run", "--out", "three", "--baseline")
	p.contains(p.run(0, "compare", "one", "two"), "measures equal")

	p.contains(p.run(0, "schema"), `"translate"`, `"language"`, `"supervise"`)
}

func TestAWorseAgentFailsTheGate(t *testing.T) {
	p := build(t)
	p.run(0, "run", "--out", "before")
	p.run(0, "bless", "before")
	scenario := p.file("scenarios/letters.yaml")
	p.write("scenarios/letters.yaml", strings.NewReplacer("calls: 2\n", "calls: 3\n",
		"    - {text: \"Bonjour.\"", "    - {fault: {kind: status, status: 500}}\n    - {text: \"Bonjour.\"").Replace(scenario))
	p.contains(p.run(1, "run", "--out", "after", "--baseline"), "calls 2", "3")
}

func TestWhatIsWrongHasItsPlace(t *testing.T) {
	p := build(t)
	scenario := p.file("scenarios/letters.yaml")
	for wrong, want := range map[string]string{
		strings.Replace(scenario, "language: French", "langauge: French", 1):                            `letters.yaml:5:5: unknown key "langauge"`,
		strings.Replace(scenario, "retries: 1", "retries: 11", 1):                                       "letters.yaml:7:14: found the number 11; expected at most 10",
		strings.Replace(scenario, `["Good morning.", "See you tomorrow."]`, "[]", 1):                    "there is nothing to translate",
		strings.Replace(scenario, "translate.texts == 2", "translate.text == 2", 1):                     "letters.yaml:17:",
		strings.Replace(scenario, "status: done", "status: finished", 1):                                "the translator never ends with status",
		string(bytes.Replace([]byte(scenario), []byte("  translate:\n"), []byte("  translator:\n"), 1)): `unknown key "translator"`,
	} {
		p.write("scenarios/letters.yaml", wrong)
		p.contains(p.run(2, "check"), want)
	}
}
