package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// Settings are what makes a host call the guard.
type Settings struct {
	// File is the settings file of a project, and UserFile that of a user.
	File, UserFile string
	// JSON is what it must have.
	JSON []byte
	// Notes say what else there is to know.
	Notes []string
}

// hostTimeout is how long the host is to wait, in seconds: twice our deadline.
const hostTimeout = 10

// command is how hosts write a hook down; each has some of the fields.
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

// Install returns the settings for a host, with which it calls executable with
// the flags of "rehearse guard" that cfg stands for. Cfg's host is not looked at.
func Install(host Host, executable string, cfg Config) (Settings, error) {
	words := commandLine(host, executable, cfg)
	line := forShell(words)
	s := Settings{Notes: []string{"If the file exists, add the entry to what it has."}}
	var content any
	switch host {
	case Claude, Codex:
		content = wrapped("Stop", cfg, matcher{Hooks: []command{{Type: "command", Command: line, Timeout: hostTimeout}}})
		s.File, s.UserFile = ".claude/settings.json", "~/.claude/settings.json"
		if host == Codex {
			s.File, s.UserFile = ".codex/hooks.json", "~/.codex/hooks.json"
			s.Notes = append(s.Notes, "Codex skips a new or changed hook until you trust it: type /hooks.")
		} else {
			s.Notes = append(s.Notes, "Cursor and Copilot CLI read this file, too: do not install the guard twice.")
		}
	case Gemini, Qwen: // in milliseconds; Qwen Code takes less than 1000 for seconds
		event := "AfterAgent"
		if host == Qwen {
			event, cfg.Subagents = "Stop", false
		}
		content = map[string]any{"hooks": map[string]any{event: []matcher{{
			Matcher: "*",
			Hooks:   []command{{Name: "rehearse-guard", Type: "command", Command: line, Timeout: 1000 * hostTimeout}},
		}}}}
		s.File, s.UserFile = "."+string(host)+"/settings.json", "~/."+string(host)+"/settings.json"
		s.Notes = append(s.Notes, "Hooks of a project run only in a folder that you trust.")
	case Copilot:
		entry := []command{{Type: "command", Bash: line, PowerShell: forPowerShell(words), TimeoutSec: hostTimeout}}
		events := map[string]any{"agentStop": entry}
		if cfg.Subagents {
			events["subagentStop"] = entry
		}
		content = map[string]any{"version": 1, "hooks": events}
		s.File, s.UserFile = ".github/hooks/rehearse-guard.json", "~/.copilot/hooks/rehearse-guard.json"
		s.Notes = append(s.Notes, "Hooks are read when copilot starts.")
	case Cursor: // the guard has its own limit; Cursor's is for a whole conversation
		content = map[string]any{"version": 1, "hooks": map[string]any{
			"afterAgentResponse": []command{{Command: line, Timeout: hostTimeout}},
			"stop":               []command{{Command: line, Timeout: hostTimeout, LoopLimit: json.RawMessage("null")}},
		}}
		s.File, s.UserFile = ".cursor/hooks.json", "~/.cursor/hooks.json"
		s.Notes = append(s.Notes, "Hooks of a project run only in a workspace that you trust.")
	case OpenHands:
		content = map[string]any{"stop": []matcher{{
			Matcher: "*", Hooks: []command{{Type: "command", Command: line, Timeout: hostTimeout}},
		}}}
		s.File, s.UserFile = ".openhands/hooks.json", "~/.openhands/hooks.json"
		s.Notes = append(s.Notes, "Versions that send no message with a stop cannot be guarded: the agent may stop then.")
	default:
		return Settings{}, fmt.Errorf("there are no settings for host %q; choose one of %v", host, Hosts())
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(content); err != nil {
		return Settings{}, fmt.Errorf("write the settings: %w", err)
	}
	s.JSON = b.Bytes()
	return s, nil
}

// wrapped is the form of Claude Code and Codex.
func wrapped(event string, cfg Config, m matcher) any {
	events := map[string]any{event: []matcher{m}}
	if cfg.Subagents {
		events["SubagentStop"] = []matcher{m}
	}
	return map[string]any{"hooks": events}
}

func commandLine(host Host, executable string, cfg Config) []string {
	words := []string{executable, "guard", "--host", string(host)}
	if cfg.Policy != "" && cfg.Policy != stop.Balanced {
		words = append(words, "--policy", string(cfg.Policy))
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

// quoted joins words, in single quotes where need be. The quote stands for one
// within them.
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
