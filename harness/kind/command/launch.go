package command

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Launch describes how to start an external program.
type Launch struct {
	// Run is the program and its arguments. A program with a slash in it is relative to
	// the scenario file's folder; any other is searched for in PATH. In all of them {here}
	// stands for that folder, and {rehearse} for the program that drives the scenario.
	Run []string `yaml:"run,omitempty" json:"run,omitempty"`
	// Env has variables beside those by which clients find the scripted backend.
	Env map[string]string `yaml:"env,omitempty" json:"env,omitempty"`
}

// Sources returns the files of the program that Run names below the scenario file's folder, by their paths from it.
func (l *Launch) Sources() (names []string) {
	for i, word := range l.Run {
		if name, ok := strings.CutPrefix(word, folderHere+"/"); ok {
			names = append(names, name)
		} else if name := filepath.ToSlash(word); i == 0 && strings.Contains(name, "/") && !path.IsAbs(name) {
			names = append(names, name)
		}
	}
	return names
}

// The placeholders in Launch.
const (
	folderHere  = "{here}"
	programHere = "{rehearse}"
)

// Resolve returns a copy whose placeholders are replaced by the folder of the scenario file
// and by the path of this program.
func (l *Launch) Resolve(sc *scenarios.Scenario, env *drive.Env) (Launch, error) {
	resolved := Launch{Run: slices.Clone(l.Run), Env: map[string]string{}}
	if argv := resolved.Run; len(argv) > 0 && strings.ContainsRune(filepath.ToSlash(argv[0]), '/') &&
		!filepath.IsAbs(argv[0]) && !strings.HasPrefix(argv[0], folderHere) {
		argv[0] = folderHere + "/" + path.Clean(filepath.ToSlash(argv[0]))
	}
	var err error
	for i, arg := range resolved.Run {
		if resolved.Run[i], err = resolve(arg, sc, env); err != nil {
			return Launch{}, fmt.Errorf("start %s: %w", strings.Join(l.Run, " "), err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Env)) {
		if resolved.Env[name], err = resolve(l.Env[name], sc, env); err != nil {
			return Launch{}, fmt.Errorf("start %s: %w", strings.Join(l.Run, " "), err)
		}
	}
	if slices.ContainsFunc(l.Run, func(arg string) bool { return strings.Contains(arg, programHere) }) {
		// A build with the race detector otherwise sleeps for a second before it exits.
		resolved.Env["GORACE"] = strings.TrimSpace(os.Getenv("GORACE") + " atexit_sleep_ms=0") //nolint:forbidigo // for a child
	}
	return resolved, nil
}

// Environ returns the variables as NAME=value, sorted by name.
func (l *Launch) Environ() []string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(l.Env)) {
		pairs = append(pairs, name+"="+l.Env[name])
	}
	return pairs
}

// resolve replaces the placeholders in a text.
func resolve(text string, sc *scenarios.Scenario, env *drive.Env) (string, error) {
	if strings.Contains(text, folderHere) {
		folder, err := sc.Folder()
		if err != nil {
			return "", err
		}
		text = strings.ReplaceAll(text, folderHere, folder)
	}
	if strings.Contains(text, programHere) {
		self, err := env.Program()
		if err != nil {
			return "", err
		}
		text = strings.ReplaceAll(text, programHere, self)
	}
	return text, nil
}

// Hint returns a hint for a program that did not find a file: it runs in the workspace, but
// an argument names a file beside the scenario or in the folder in which rehearse runs. It is
// empty if no argument does.
func (l *Launch) Hint(sc *scenarios.Scenario, files map[string]string) string {
	here, err := sc.Folder()
	if err != nil {
		return ""
	}
	for i, arg := range l.Run {
		name := filepath.FromSlash(arg)
		if _, there := files[path.Clean(arg)]; there || name == "" || filepath.IsAbs(name) || strings.Contains(arg, folderHere) {
			continue
		}
		if _, err := exec.LookPath(arg); i == 0 && (err == nil || strings.Contains(arg, "/")) {
			continue // it was found, or is relative to the scenario's folder already
		}
		if found := relativeTo(here, name); found != "" {
			return fmt.Sprintf("\ndid you mean %q? programs are started in the workspace; %s is the folder of the scenario file",
				folderHere+"/"+found, folderHere)
		}
	}
	return ""
}

// relativeTo returns the path, from the folder here, of a file that is named relative to
// that folder or to the current one; empty if there is no such file.
func relativeTo(here, name string) string {
	for _, folder := range []string{here, "."} {
		file, err := filepath.Abs(filepath.Join(folder, name))
		if err != nil {
			continue
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if below, err := filepath.Rel(here, file); err == nil {
			return filepath.ToSlash(below)
		}
	}
	return ""
}

// Relocate returns the keys of the process that change when the scenario's file moves to
// another folder, from which back leads to the old one.
func (l *Launch) Relocate(back string) map[string]any {
	changes := map[string]any{}
	if run := relocateRun(l.Run, back); !slices.Equal(run, l.Run) {
		changes["run"] = run
	}
	for name, value := range l.Env {
		if moved := strings.ReplaceAll(value, folderHere, folderHere+"/"+back); moved != value {
			changes[yamlsrc.Join("env", name)] = moved
		}
	}
	return changes
}

// relocateRun returns a command line whose relative paths begin at back.
func relocateRun(run []string, back string) []string {
	moved := slices.Clone(run)
	for i, arg := range moved {
		slashed := filepath.ToSlash(arg)
		if i == 0 && strings.Contains(slashed, "/") && !filepath.IsAbs(arg) && !strings.HasPrefix(arg, folderHere) {
			moved[i] = "./" + path.Join(back, slashed)
			continue
		}
		moved[i] = strings.ReplaceAll(arg, folderHere, folderHere+"/"+back)
	}
	return moved
}
