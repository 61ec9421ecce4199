package scenarios

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// OwnFolder is the default folder of a user's own scenarios.
const OwnFolder = "scenarios"

// index maps names to the scenario files in some folders.
type index struct {
	folders []string
	files   map[string][]string // by name; the files of a name in lexical order
}

// newIndex reads the names of the scenarios in folders. A file with invalid YAML is indexed by its
// base name, so that naming it shows the problem.
func newIndex(folders []string) *index {
	x := &index{files: map[string][]string{}}
	seen := map[string]bool{}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		x.folders = append(x.folders, filepath.ToSlash(filepath.Clean(folder)))
		walk(folder, func(string, error) {}, func(file string) {
			place, err := filepath.Abs(file)
			if err != nil || seen[place] {
				return
			}
			seen[place] = true
			if name := nameIn(folder, file); name != "" {
				x.files[name] = append(x.files[name], file)
			}
		})
	}
	return x
}

// nameIn returns the name in a scenario file; empty if it has none, or if the file has a schema and is
// therefore an experiment.
func nameIn(folder, file string) string {
	if info, err := os.Stat(file); err != nil || info.Size() > yamlsrc.MaxBytes {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	if schema, err := yamlsrc.Scalar(data, "schema"); err == nil && schema != "" {
		return ""
	}
	name, err := yamlsrc.Scalar(data, "name")
	if err != nil {
		below, _ := filepath.Rel(folder, file) // is below by construction
		return strings.TrimSuffix(filepath.ToSlash(below), path.Ext(file))
	}
	return name
}

// names returns the sorted names of the index.
func (x *index) names() []string {
	names := make([]string, 0, len(x.files))
	for name := range x.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// NamesIn returns the sorted names of the scenarios in folders.
func NamesIn(folders ...string) []string { return newIndex(folders).names() }

// index returns the index of the folders for names.
func (l *loader) index() *index {
	if l.own == nil {
		l.own = newIndex(slices.Concat(l.opts.Folders, l.patterns))
	}
	return l.own
}

// byName reads the own and shipped scenarios whose names match a pattern, in the order of the
// names, and reports whether there are any.
func (l *loader) byName(pattern string) bool {
	own, shippedNames := matching(pattern, l.index().names()), matching(pattern, Names())
	names := slices.Concat(own, shippedNames)
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		switch {
		case !slices.Contains(own, name):
			l.shippedFile(name)
		case slices.Contains(shippedNames, name):
			l.either(name)
		default:
			for _, file := range l.index().files[name] {
				l.file(file)
			}
		}
	}
	return len(names) > 0
}

// shippedOnly reads the shipped scenarios whose names match.
func (l *loader) shippedOnly(pattern, name string) {
	names := matching(name, Names())
	for _, name := range names {
		l.shippedFile(name)
	}
	if len(names) == 0 {
		nearest := nearestName(name, Names())
		if nearest != "" {
			nearest = shippedPrefix + nearest
		}
		l.fail(pattern, "no shipped scenario has that name", nearest)
	}
}

// either reads a scenario whose name an own file and a shipped one have, which is ambiguous unless
// they are equal.
func (l *loader) either(name string) {
	ours, files := l.readShipped(name), l.index().files[name]
	same := true
	for _, file := range files {
		same = same && l.parse(file).Digest == ours.Digest
	}
	if same {
		l.add(ours)
		return
	}
	l.fail(name, fmt.Sprintf("two scenarios have this name, %s and %s; write %s for the first, or %s for the second",
		files[0], ours.File, files[0], shippedPrefix+name), "")
}

// notFound reports a pattern that selects nothing.
func (l *loader) notFound(pattern string) {
	message := "no such file or folder, and no shipped scenario has that name"
	if folders := l.index().folders; len(folders) > 0 {
		message = fmt.Sprintf("no such file or folder, and no scenario in %s or among the shipped ones has that name",
			strings.Join(folders, ", "))
	}
	l.fail(pattern, message, nearestName(pattern, slices.Concat(l.index().names(), Names())))
}

// nearestName returns the closest name, or group of names.
func nearestName(pattern string, names []string) string {
	if !hasWildcard(pattern) {
		return suggest.Nearest(pattern, names)
	}
	var groups []string
	for _, name := range names {
		groups = append(groups, path.Dir(name)+"/*")
		for i, r := range name {
			if r == '-' || r == '_' {
				groups = append(groups, name[:i+1]+"*")
			}
		}
	}
	return suggest.Nearest(pattern, append(groups, names...))
}

// elsewhere returns a hint for a path that selects nothing but is also the name of a scenario.
func (l *loader) elsewhere(pattern string) string {
	if files := l.index().files[pattern]; len(files) > 0 {
		return "; the scenario of that name is " + files[0]
	}
	return ""
}

func matching(pattern string, names []string) []string {
	var matched []string
	for _, name := range names {
		if ok, err := path.Match(pattern, name); err == nil && ok {
			matched = append(matched, name)
		}
	}
	return matched
}

func (l *loader) shippedFile(name string) { l.add(l.readShipped(name)) }

func (l *loader) readShipped(name string) parsed {
	file := name + ".yaml"
	data, err := shipped.ReadFile(file)
	if err != nil {
		file = name + ".yml"
		data, err = shipped.ReadFile(file)
	}
	folder, inFolder := fs.Sub(shipped, path.Dir(name))
	if err != nil || inFolder != nil {
		panic("scenarios: the shipped scenario " + name + " cannot be read") // it was listed
	}
	return parse(shippedPrefix+file, data, folder, l.opts)
}
