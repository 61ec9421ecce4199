package explore

import (
	"fmt"
	"maps"
	slashpath "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// here stands for the folder of a scenario's file in how a program is started.
const here = "{here}"

// relocate returns the changes by which a copy of a scenario's file in another folder
// starts the same program and builds the same image: each path relative to the file's
// folder becomes one relative to the new folder.
func relocate(sc *scenarios.Scenario, folder string) ([]yamlsrc.Change, error) {
	if sc.File == "" || scenarios.Shipped(sc.File) {
		return nil, nil
	}
	back, err := pathBetween(folder, filepath.Dir(filepath.FromSlash(sc.File)))
	if err != nil || back == "." {
		return nil, err
	}
	var changes []yamlsrc.Change
	add := func(key string, value any) {
		changes = append(changes, yamlsrc.Change{Path: "drive." + key, Value: value})
	}
	program := func(kind string, p scenarios.Process) {
		if run := relocateRun(p.Run, back); !slices.Equal(run, p.Run) {
			add(kind+".run", run)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Env)) {
			if value := strings.ReplaceAll(p.Env[name], here, here+"/"+back); value != p.Env[name] {
				add(yamlsrc.Join(kind+".env", name), value)
			}
		}
	}
	switch d := sc.Drive; {
	case d.Command != nil:
		program("command", d.Command.Process)
	case d.HTTP != nil:
		program("http", d.HTTP.Process)
	case d.Container != nil:
		program("container", d.Container.Process)
		if build := d.Container.Build; build != "" && !filepath.IsAbs(build) {
			add("container.build", slashpath.Join(back, filepath.ToSlash(build)))
		}
	}
	return changes, nil
}

// relocateRun returns a command line whose relative paths begin at back.
func relocateRun(run []string, back string) []string {
	moved := slices.Clone(run)
	for i, arg := range moved {
		slashed := filepath.ToSlash(arg)
		if i == 0 && strings.Contains(slashed, "/") && !filepath.IsAbs(arg) && !strings.HasPrefix(arg, here) {
			moved[i] = "./" + slashpath.Join(back, slashed)
			continue
		}
		moved[i] = strings.ReplaceAll(arg, here, here+"/"+back)
	}
	return moved
}

// pathBetween is the path of a folder relative to another, with slashes.
func pathBetween(from, to string) (string, error) {
	var err error
	if from, err = filepath.Abs(from); err == nil {
		to, err = filepath.Abs(to)
	}
	if err != nil {
		return "", fmt.Errorf("find the scenario's folder: %w", err)
	}
	// A link on the way would lead ".." elsewhere. A folder that is not there yet has none.
	if real, err := filepath.EvalSymlinks(from); err == nil {
		from = real
	}
	if real, err := filepath.EvalSymlinks(to); err == nil {
		to = real
	}
	back, err := filepath.Rel(from, to)
	if err != nil {
		return "", fmt.Errorf("find the scenario's folder from %s: %w", from, err)
	}
	return filepath.ToSlash(back), nil
}
