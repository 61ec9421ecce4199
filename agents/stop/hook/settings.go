package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// Settings make a host call the guard.
type Settings struct {
	// File is the settings file of a project, and UserFile that of a user.
	File, UserFile string
	// JSON is the required content of the file.
	JSON []byte
	// Notes are hints for the user.
	Notes []string
}

// hostTimeout is the timeout of the hook in seconds: twice its own deadline.
const hostTimeout = 10

// command is a hook in the settings of a host; each host has some of the fields.
type command struct {
	Name       string          `json:"name,omitempty"`
	Type       string          `json:"type,omitempty"`
	Command    string          `json:"command,omitempty"`
	Bash       string          `json:"bash,omitempty"`
	PowerShell string          `json:"powershell,omitempty"`
	Timeout    int             `json:"timeout,omitempty"`
	TimeoutSec int             `json:"timeoutSec,omitempty"`
	LoopLimit  json.RawMessage `json:"loop_limit,omitempty"`
}

type matcher struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []command `json:"hooks"`
}

// recipe describes the settings of a host.
type recipe struct {
	file, userFile, note string
	// content is the settings file for the words of a command line.
	content func(words []string, subagents bool) any
}

type object = map[string]any

var recipes = map[Host]recipe{
	Claude: {
		".claude/settings.json", "~/.claude/settings.json",
		"Cursor and Copilot CLI read this file, too: do not install the guard twice.", claudeSettings,
	},
	Codex: {
		".codex/hooks.json", "~/.codex/hooks.json",
		"Codex skips a new or changed hook until you trust it: type /hooks.", claudeSettings,
	},
	Gemini: {
		".gemini/settings.json", "~/.gemini/settings.json",
		"Hooks of a project run only in a folder that you trust.", geminiSettings("AfterAgent"),
	},
	Qwen: {
		".qwen/settings.json", "~/.qwen/settings.json",
		"Hooks of a project run only in a folder that you trust.", geminiSettings("Stop"),
	},
	Copilot: {
		".github/hooks/rehearse-guard.json", "~/.copilot/hooks/rehearse-guard.json",
		"Hooks are read when copilot starts.", copilotSettings,
	},
	Cursor: {
		".cursor/hooks.json", "~/.cursor/hooks.json",
		"Hooks of a project run only in a workspace that you trust.", cursorSettings,
	},
	OpenHands: {
		".openhands/hooks.json", "~/.openhands/hooks.json",
		"Versions that send no message with a stop cannot be guarded: the agent may stop then.", openHandsSettings,
	},
}

// Install returns the settings for a host, with which it calls executable with
// the flags of "rehearse guard" for cfg. The host of cfg is ignored.
func Install(host Host, executable string, cfg Config) (Settings, error) {
	r, ok := recipes[host]
	if !ok {
		return Settings{}, fmt.Errorf("there are no settings for host %q; use one of %v", host, Hosts())
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r.content(commandLine(host, executable, cfg), cfg.Subagents)); err != nil {
		return Settings{}, fmt.Errorf("write the settings: %w", err)
	}
	return Settings{
		File: r.file, UserFile: r.userFile, JSON: b.Bytes(),
		Notes: []string{"If the file exists, add the entry to what it has.", r.note},
	}, nil
}

// claudeSettings returns those of Claude Code and of Codex.
func claudeSettings(words []string, subagents bool) any {
	entry := []matcher{{Hooks: []command{{Type: "command", Command: forShell(words), Timeout: hostTimeout}}}}
	events := object{"Stop": entry}
	if subagents {
		events["SubagentStop"] = entry
	}
	return object{"hooks": events}
}

// geminiSettings count time in milliseconds. Qwen Code took that over, and reads
// less than 1000 as seconds.
func geminiSettings(event string) func([]string, bool) any {
	return func(words []string, _ bool) any {
		return object{"hooks": object{event: []matcher{{Matcher: "*", Hooks: []command{
			{Name: "rehearse-guard", Type: "command", Command: forShell(words), Timeout: 1000 * hostTimeout},
		}}}}}
	}
}

func copilotSettings(words []string, subagents bool) any {
	entry := []command{{
		Type: "command", Bash: forShell(words), PowerShell: forPowerShell(words), TimeoutSec: hostTimeout,
	}}
	events := object{"agentStop": entry}
	if subagents {
		events["subagentStop"] = entry
	}
	return object{"version": 1, "hooks": events}
}

// cursorSettings lift Cursor's own limit, which is for a whole conversation; the
// guard has one for each row of refusals.
func cursorSettings(words []string, _ bool) any {
	line := forShell(words)
	return object{"version": 1, "hooks": object{
		"afterAgentResponse": []command{{Command: line, Timeout: hostTimeout}},
		"stop":               []command{{Command: line, Timeout: hostTimeout, LoopLimit: json.RawMessage("null")}},
	}}
}

func openHandsSettings(words []string, _ bool) any {
	return object{"stop": []matcher{{Matcher: "*", Hooks: []command{
		{Type: "command", Command: forShell(words), Timeout: hostTimeout},
	}}}}
}

// commandLine returns the command with the flags that differ from the defaults.
func commandLine(host Host, executable string, cfg Config) []string {
	words := []string{executable, "guard", "--host", string(host)}
	if cfg.Policy != "" && cfg.Policy != stop.Balanced {
		words = append(words, "--policy", string(cfg.Policy))
	}
	if cfg.Threshold != 0 {
		words = append(words, "--threshold", strconv.FormatFloat(cfg.Threshold, 'g', -1, 64))
	}
	if cfg.Weights != "" {
		words = append(words, "--weights", cfg.Weights)
	}
	if cfg.Cap != 0 && cfg.Cap != DefaultCap {
		words = append(words, "--cap", strconv.Itoa(cfg.Cap))
	}
	if cfg.State != "" {
		words = append(words, "--state", cfg.State)
	}
	if cfg.Log != "" {
		words = append(words, "--log", cfg.Log)
	}
	if cfg.LogText {
		words = append(words, "--log-text")
	}
	if cfg.Shadow {
		words = append(words, "--shadow")
	}
	if cfg.Subagents {
		words = append(words, "--subagents")
	}
	return words
}

func forShell(words []string) string { return quoted(words, `'\''`) }

func forPowerShell(words []string) string {
	line := quoted(words, "''")
	if strings.HasPrefix(line, "'") {
		return "& " + line // else it is a string, not a command
	}
	return line
}

// quoted joins words, with single quotes where they are needed. A quote within a word is
// replaced by the given text.
func quoted(words []string, quote string) string {
	out := make([]string, len(words))
	for i, word := range words {
		if out[i] = word; word == "" || strings.ContainsFunc(word, unsafe) {
			out[i] = "'" + strings.ReplaceAll(word, "'", quote) + "'"
		}
	}
	return strings.Join(out, " ")
}

// unsafe reports whether a character may mean something to a shell.
func unsafe(r rune) bool {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:+="
	return !strings.ContainsRune(safe, r)
}
