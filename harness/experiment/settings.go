package experiment

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// settable are the parts of a scenario that a variant may set. Expectations are the same for all
// variants.
var settable = []string{"drive", "backend"}

// setting is a value at a path of every scenario; nil removes the key.
type setting struct {
	path  string
	value any
	file  string
}

// fileOf returns the file that a value names: {file: name}.
func fileOf(value any) (name string, named bool) {
	m, ok := value.(map[string]any)
	if !ok || len(m) != 1 {
		return "", false
	}
	name, ok = m["file"].(string)
	return name, ok
}

// text returns a textual value, or the text of the file that it names without its final line break.
func text(value any, folder fs.FS) (string, error) {
	name, named := fileOf(value)
	if !named {
		s, ok := value.(string)
		if !ok {
			return "", fmt.Errorf("found %v; expected text, or {file: name}", value)
		}
		return s, nil
	}
	data, err := fs.ReadFile(folder, name)
	if err != nil {
		return "", fmt.Errorf("read the file %s: %w; name one in the experiment's folder or below", name, sanitize.WithoutPath(err))
	}
	if len(data) > yamlsrc.MaxBytes {
		return "", fmt.Errorf("the file %s has %d bytes; at most %d are allowed", name, len(data), yamlsrc.MaxBytes)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}

// settings returns the settings of a variant, sorted by path. It calls found with each problem and
// its path.
func settings(set map[string]any, folder fs.FS, found func(path string, err error)) []setting {
	var all []setting
	for _, path := range slices.Sorted(maps.Keys(set)) {
		s := setting{path: path, value: set[path]}
		if part, _, _ := strings.Cut(path, "."); !slices.Contains(settable, part) {
			found(path, fmt.Errorf("a variant can only set %s and the keys below them, not %q", strings.Join(settable, " and "), path))
			continue
		}
		if name, named := fileOf(s.value); named {
			content, err := text(s.value, folder)
			if err != nil {
				found(path, err)
				continue
			}
			s.file, s.value = name, content
		}
		all = append(all, s)
	}
	return all
}

// edit applies the settings to the text of a scenario.
func edit(text []byte, set []setting) ([]byte, error) {
	if len(set) == 0 {
		return text, nil
	}
	changes := make([]yamlsrc.Change, len(set))
	for i, s := range set {
		changes[i] = yamlsrc.Change{Path: s.path, Value: s.value, Make: true}
	}
	return yamlsrc.Edit(text, changes)
}

func shown(set []setting) []result.Setting {
	var all []result.Setting
	for _, s := range set {
		value, ok := s.value.(string)
		if !ok {
			value = fmt.Sprint(s.value)
		}
		all = append(all, result.Setting{Path: s.path, Value: value, File: s.file})
	}
	return all
}
