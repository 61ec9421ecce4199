package incident

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/input"
)

// parseSessions reads the conversations of files, and the calls of subagents of sessions of Claude Code, whose files are
// not among them. One that cannot be read is left out, and its session is partial.
func parseSessions(files []file, format Format) ([]Conversation, []Finding, error) {
	known := map[string]bool{}
	for _, f := range files {
		known[filepath.Clean(f.name)] = true
	}
	all := slices.Clone(files)
	var lost []Finding
	lacking := map[string]bool{} // sessions
	for _, f := range files {
		for _, name := range subagents(f.name) {
			if known[name] {
				continue
			}
			data, err := readSubagent(name)
			if err != nil {
				lost = append(lost, Finding{File: name, Message: "the calls of a subagent are left out: " + err.Error()})
				lacking[f.name] = true
				continue
			}
			all = append(all, file{name: name, data: data})
		}
	}
	conversations, findings, err := parse(all, format)
	for i := range conversations {
		if c := &conversations[i]; slices.ContainsFunc(c.parts, func(part string) bool { return lacking[part] }) {
			c.Partial = true
			c.note("The file of a subagent cannot be read, so calls are missing.")
		}
	}
	return conversations, slices.Concat(findings, lost), err
}

// readSubagent reads the file of a subagent; the error is that of one without any line of a session.
func readSubagent(name string) ([]byte, error) {
	data, err := input.ReadFile("input", name, MaxBytes)
	if err != nil {
		return nil, err
	}
	docs, _, err := documents(file{name: name, data: data})
	if err == nil && detect(docs) != Claude {
		err = errors.New("the file is not a session of Claude Code")
	}
	return data, err
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
