package cli

import (
	"cmp"
	"path/filepath"
)

// State lists where an agent's program keeps its state outside of the working folder: sessions, logs and
// credentials.
type State struct {
	// Folders and Files are absolute paths that the program writes. They need not exist.
	Folders, Files []string
	// Settings are files below Folders that it only reads when it runs without a terminal, and that could
	// make it start other programs.
	Settings []string
}

// StateOf returns the State of the agent with an id, by its documented defaults and variables; it is empty
// for "exec". Getenv is usually os.Getenv.
func StateOf(id string, getenv func(string) string) State {
	home := getenv("HOME")
	if home == "" {
		return State{}
	}
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(home, name))
		}
		return paths
	}
	switch id {
	case "claude":
		folder := cmp.Or(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude"))
		return State{Folders: []string{folder}, Files: in(".claude.json"), Settings: []string{filepath.Join(folder, "settings.json")}}
	case "codex":
		folder := cmp.Or(getenv("CODEX_HOME"), filepath.Join(home, ".codex"))
		return State{Folders: []string{folder}, Settings: []string{filepath.Join(folder, "config.toml")}}
	case "opencode":
		return State{
			Folders:  in(".local/share/opencode", ".local/state/opencode", ".cache/opencode", ".config/opencode"),
			Settings: in(".config/opencode/opencode.json"),
		}
	case "copilot", "gemini", "qwen":
		return State{Folders: in("." + id), Settings: in("." + id + "/settings.json")}
	}
	return State{}
}
