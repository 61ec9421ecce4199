package explore

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// relocate returns the changes after which a copy of a scenario's file in another folder starts the
// same program and builds the same image: paths relative to the file's folder become relative to
// the new folder.
func relocate(sc *scenarios.Scenario, folder string, kinds []scenarios.Kind) ([]yamlsrc.Change, error) {
	if sc.File == "" || scenarios.Shipped(sc.File) {
		return nil, nil
	}
	back, err := pathBetween(folder, filepath.Dir(filepath.FromSlash(sc.File)))
	if err != nil || back == "." {
		return nil, err
	}
	i := slices.IndexFunc(kinds, func(k scenarios.Kind) bool { return k.Name == sc.Drive.Kind })
	if i < 0 || kinds[i].Relocate == nil {
		return nil, nil
	}
	moved := kinds[i].Relocate(sc.Drive.Options, back)
	changes := make([]yamlsrc.Change, 0, len(moved))
	for _, path := range slices.Sorted(maps.Keys(moved)) {
		changes = append(changes, yamlsrc.Change{Path: "drive." + sc.Drive.Kind + "." + path, Value: moved[path]})
	}
	return changes, nil
}

// pathBetween returns the path of a folder relative to another, with slashes.
func pathBetween(from, to string) (string, error) {
	var err error
	if from, err = filepath.Abs(from); err == nil {
		to, err = filepath.Abs(to)
	}
	if err != nil {
		return "", fmt.Errorf("find the scenario's folder: %w", err)
	}
	// A symbolic link on the way would change the meaning of "..". A folder that does not exist
	// yet has none.
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
