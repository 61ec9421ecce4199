package incident

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// withSubagents adds the files of the subagents of sessions of Claude Code that are not among the names.
func withSubagents(names []string) []string {
	all := slices.Clone(names)
	known := map[string]bool{}
	for _, name := range names {
		known[filepath.Clean(name)] = true
	}
	for _, name := range names {
		for _, file := range subagents(name) {
			if !known[file] {
				all = append(all, file)
			}
		}
	}
	return all
}

// subagentsOf returns the folder that Claude Code gives the files of the subagents of a session.
func subagentsOf(session string) string {
	return filepath.Join(strings.TrimSuffix(session, ".jsonl"), "subagents")
}

// subagents returns these files.
func subagents(session string) []string {
	folder := subagentsOf(session)
	entries, _ := os.ReadDir(folder) // most sessions have none
	var files []string
	for _, e := range entries {
		if ok, _ := filepath.Match("agent-*.jsonl", e.Name()); ok { // the pattern is valid
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files
}
