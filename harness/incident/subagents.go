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

// subagents returns the files of the subagents of a session of Claude Code, which are in a folder named after the session.
func subagents(session string) []string {
	name, ok := strings.CutSuffix(session, ".jsonl")
	if !ok {
		return nil
	}
	folder := filepath.Join(name, "subagents")
	entries, _ := os.ReadDir(folder) // most sessions have none
	var files []string
	for _, e := range entries {
		if ok, _ := filepath.Match("agent-*.jsonl", e.Name()); ok { // the pattern is valid
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files
}
