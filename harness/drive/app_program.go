package drive

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// The placeholders in how a program is started, see scenarios.Process.
const (
	folderHere  = "{here}"
	programHere = "{rehearse}"
)

// program resolves how a scenario starts somebody else's program: the command line,
// and the variables as NAME=value, sorted.
func program(sc scenarios.Scenario, p scenarios.Process, env *Env) (argv, vars []string, err error) {
	argv = slices.Clone(p.Run)
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		vars = append(vars, name+"="+p.Env[name])
	}
	if len(argv) > 0 && strings.ContainsRune(filepath.ToSlash(argv[0]), '/') && !filepath.IsAbs(argv[0]) && !strings.HasPrefix(argv[0], folderHere) {
		argv[0] = folderHere + "/" + path.Clean(filepath.ToSlash(argv[0]))
	}
	for _, texts := range [][]string{argv, vars} {
		for i := range texts {
			if texts[i], err = resolve(texts[i], sc, env); err != nil {
				return nil, nil, fmt.Errorf("start %s: %w", strings.Join(p.Run, " "), err)
			}
		}
	}
	if slices.ContainsFunc(p.Run, func(arg string) bool { return strings.Contains(arg, programHere) }) {
		// A build with the race detector otherwise sleeps for a second before it exits.
		vars = append(vars, "GORACE="+strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	}
	return argv, vars, nil
}

// resolve puts what they stand for in place of the placeholders.
func resolve(text string, sc scenarios.Scenario, env *Env) (string, error) {
	if strings.Contains(text, folderHere) {
		folder, err := folderOf(sc)
		if err != nil {
			return "", err
		}
		text = strings.ReplaceAll(text, folderHere, folder)
	}
	if strings.Contains(text, programHere) {
		self, err := executable(env)
		if err != nil {
			return "", err
		}
		text = strings.ReplaceAll(text, programHere, self)
	}
	return text, nil
}

// folderOf is the folder of a scenario's file.
func folderOf(sc scenarios.Scenario) (string, error) {
	if sc.File == "" || scenarios.Shipped(sc.File) {
		return "", fmt.Errorf("the scenario %s is no file on disk, so that nothing can be relative to its folder; write an absolute path or a program in PATH", sc.Name)
	}
	return filepath.Abs(filepath.Dir(filepath.FromSlash(sc.File)))
}

// executable is the program that starts itself again as the agents of ours.
func executable(env *Env) (string, error) {
	if env.Executable != "" {
		return env.Executable, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return self, nil
}

// misplaced returns a hint for a program that did not find a file: programs are started
// in the workspace, and an argument names a file that is not there, but beside the
// scenario or in the folder in which rehearse runs. It is empty if there is none.
func misplaced(sc scenarios.Scenario, run []string, files map[string]string) string {
	here, err := folderOf(sc)
	if err != nil {
		return ""
	}
	for i, arg := range run {
		name := filepath.FromSlash(arg)
		if _, there := files[path.Clean(arg)]; there || name == "" || filepath.IsAbs(name) {
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

// processOf is the program that a scenario starts; nil if it starts none.
func processOf(d scenarios.Drive) *scenarios.Process {
	switch {
	case d.Command != nil:
		return &d.Command.Process
	case d.HTTP != nil:
		return &d.HTTP.Process
	}
	return nil
}
