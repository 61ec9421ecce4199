// Package watch observes files and decides what to run again when they change. Decisions are pure; Files
// is the only part that uses the file system.
package watch

import (
	"path/filepath"
	"slices"
	"strings"
)

// Item is something that can be run, such as a scenario.
type Item struct {
	Name string
	// Digest changes with the item's own file and the files that it names.
	Digest string
	// Files are files that it starts, and Programs the folders of their sources: a change of a file,
	// or of a source in a folder, however deep, affects the item.
	Files, Programs []string
}

// Affected returns the names of the items that changed files affect, in the order of the items: their
// digest or a source of their programs has changed.
func Affected(before, after []Item, changed []string) (names []string) {
	digests := map[string]string{}
	for _, item := range before {
		digests[item.Name] = item.Digest
	}
	for _, item := range after {
		digest, known := digests[item.Name]
		if !known || digest != item.Digest || slices.ContainsFunc(changed, item.uses) {
			names = append(names, item.Name)
		}
	}
	return names
}

// uses reports whether a file belongs to one of the item's programs.
func (item Item) uses(file string) bool {
	return slices.Contains(item.Files, file) ||
		isSource(file) && slices.ContainsFunc(item.Programs, func(folder string) bool { return within(folder, file) })
}

// within reports whether a file is in a folder, at any depth.
func within(folder, file string) bool {
	rel, err := filepath.Rel(folder, file)
	return err == nil && filepath.IsLocal(rel)
}

// sources are the extensions of the sources of programs. Programs write other files, such as logs and
// databases. YAML files are scenarios and their files, which digests cover.
var sources = []string{
	".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".go", ".rs", ".rb", ".php", ".java", ".kt", ".kts", ".scala",
	".cs", ".fs", ".swift", ".c", ".h", ".cc", ".cpp", ".hpp", ".ex", ".exs", ".clj", ".lua", ".pl", ".r", ".sh", ".bash", ".sql",
	".json", ".toml", ".ini", ".cfg", ".env", ".md", ".prompt", ".tmpl", ".j2", ".jinja", ".hbs", ".mustache", ".graphql", ".proto",
}

func isSource(file string) bool {
	return !Ignored(file) && slices.Contains(sources, strings.ToLower(filepath.Ext(file)))
}

// ignoredFolders do not contain files that a person edits.
var ignoredFolders = []string{"node_modules", "__pycache__", "rehearse-runs", "vendor", "venv", "dist", "target"}

// Ignored reports whether a file or folder is never watched: hidden ones, dependencies, the output of
// runs, and temporary files of editors.
func Ignored(file string) bool {
	name := filepath.Base(file)
	switch {
	case name == "." || name == "..":
		return false
	case strings.HasPrefix(name, "."), strings.HasSuffix(name, "~"), strings.HasPrefix(name, "#"):
		return true
	case name == "4913": // vim checks with it whether it may write
		return true
	}
	return slices.Contains(ignoredFolders, name) || slices.Contains([]string{".swp", ".swx", ".tmp", ".partial"}, filepath.Ext(name))
}
