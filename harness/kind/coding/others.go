package coding

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// prepareCopilot returns how to start Copilot CLI. Offline, it logs in nowhere and calls only the backend.
func prepareCopilot(cfg Config, site app.Site) (launch, error) {
	if err := noRetries(cfg); err != nil {
		return launch{}, err
	}
	args := []string{"--allow-all-tools"}
	if len(site.MCP) > 0 {
		servers, err := json.Marshal(map[string]any{"mcpServers": copilotServers(cfg, site.MCP)})
		if err != nil {
			return launch{}, fmt.Errorf("encode its MCP servers: %w", err)
		}
		args = append(args, "--additional-mcp-config="+string(servers))
	}
	return launch{
		args: args,
		env: []string{
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_MODEL=" + cfg.Model, "COPILOT_PROVIDER_TYPE=openai",
			"COPILOT_PROVIDER_WIRE_API=responses", "COPILOT_PROVIDER_BASE_URL=" + site.Backend + "/v1", "COPILOT_PROVIDER_API_KEY=" + anyKey,
		},
	}, nil
}

// copilotServers returns the settings of MCP servers.
func copilotServers(cfg Config, servers []app.MCPServer) map[string]any {
	all := map[string]any{}
	for _, s := range servers {
		settings := map[string]any{"type": "http", "url": s.URL, "tools": []string{"*"}}
		if len(s.Command) > 0 {
			settings = map[string]any{"type": "local", "command": s.Command[0], "args": s.Command[1:], "tools": []string{"*"}}
		}
		setTimeout(settings, cfg)
		all[s.Name] = settings
	}
	return all
}

// setTimeout adds the limit of a call to the settings of an MCP server.
func setTimeout(settings map[string]any, cfg Config) {
	if cfg.ToolTimeout > 0 {
		settings["timeout"] = cfg.ToolTimeout.Milliseconds()
	}
}

// anyKey is the key of a provider that accepts every key.
const anyKey = "rehearse-works-nowhere-else"

// noRetries returns an error for a number of retries, which cannot be set for some programs.
func noRetries(cfg Config) error {
	if cfg.Retries != nil {
		return fmt.Errorf("the retries of %s cannot be set; remove retries", cfg.Agent)
	}
	return nil
}

// copilotTime matches the time that Copilot CLI writes before a message of the user.
var copilotTime = lazyregexp.New(`(?s)^<current_datetime>.*?</current_datetime>\s*`)

// normalizeCopilot removes Copilot CLI's own notes from a message of the user.
func normalizeCopilot(m llm.Message) (llm.Message, bool) {
	if m.Role == llm.User {
		m.Content = strings.TrimSpace(reminder().ReplaceAllString(copilotTime().ReplaceAllString(m.Content, ""), ""))
	}
	return m, m.Content != "" || m.Role != llm.User
}

// prepareGemini writes Gemini CLI's settings and returns how to start it. It does not accept a backend of another
// address unless the settings select an API key.
func prepareGemini(cfg Config, site app.Site) (launch, error) {
	if err := noRetries(cfg); err != nil {
		return launch{}, err
	}
	err := writeSettings(filepath.Join(site.Home, ".gemini", "settings.json"), map[string]any{
		"general":  map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"privacy":  map[string]any{"usageStatisticsEnabled": false}, "mcpServers": geminiServers(cfg, site.MCP),
	})
	return launch{args: []string{"--skip-trust", "--approval-mode=auto_edit", "--allowed-tools=run_shell_command"}}, err
}

// geminiServers returns the settings of MCP servers of Gemini CLI and Qwen Code. Nobody can approve their tools.
func geminiServers(cfg Config, servers []app.MCPServer) map[string]any {
	all := map[string]any{}
	for _, s := range servers {
		settings := map[string]any{"trust": true}
		if len(s.Command) > 0 {
			settings["command"], settings["args"] = s.Command[0], s.Command[1:]
		} else {
			settings["httpUrl"] = s.URL
		}
		setTimeout(settings, cfg)
		all[s.Name] = settings
	}
	return all
}

// geminiContext matches the description of the machine that Gemini CLI writes before the first message of the user.
var geminiContext = lazyregexp.New(`(?s)^<session_context>.*?</session_context>\s*`)

// normalizeGemini removes Gemini CLI's own notes from a message.
func normalizeGemini(m llm.Message) (llm.Message, bool) {
	switch m.Role {
	case llm.User:
		m.Content = geminiContext().ReplaceAllString(m.Content, "")
		return m, m.Content != ""
	case llm.ToolRole:
		m.Content = qwenGroup().ReplaceAllString(m.Content, "$1: {any}")
	case llm.System, llm.Developer, llm.Assistant:
	}
	return m, true
}

// prepareOpencode writes opencode's settings and returns how to start it. Without the title agent it makes no
// calls beside those for the user's request.
func prepareOpencode(cfg Config, site app.Site) (launch, error) {
	if err := noRetries(cfg); err != nil {
		return launch{}, err
	}
	model := opencodeProvider + cfg.Model
	err := writeSettings(filepath.Join(site.Home, ".config", "opencode", "opencode.json"), map[string]any{
		"$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled", "model": model, "small_model": model,
		"agent": map[string]any{"title": map[string]any{"disable": true}},
		"provider": map[string]any{strings.TrimSuffix(opencodeProvider, "/"): map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "rehearse", "models": map[string]any{cfg.Model: map[string]any{"name": cfg.Model}},
			"options": map[string]any{"baseURL": site.Backend + "/v1", "apiKey": anyKey},
		}},
		"mcp": opencodeServers(cfg, site.MCP),
	})
	if err == nil {
		err = settleOpencode(filepath.Join(site.Home, ".config", "opencode"))
	}
	return launch{env: []string{
		"XDG_CONFIG_HOME=" + filepath.Join(site.Home, ".config"), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
	}}, err
}

// opencodeServers returns the settings of MCP servers.
func opencodeServers(cfg Config, servers []app.MCPServer) map[string]any {
	all := map[string]any{}
	for _, s := range servers {
		settings := map[string]any{"type": "remote", "url": s.URL, "oauth": false}
		if len(s.Command) > 0 {
			settings = map[string]any{"type": "local", "command": s.Command}
		}
		setTimeout(settings, cfg)
		all[s.Name] = settings
	}
	return all
}

// settleOpencode writes what opencode finds after it has installed the package of its plugins from npm, which it
// does for each folder of settings otherwise.
func settleOpencode(folder string) error {
	if err := os.Mkdir(filepath.Join(folder, "node_modules"), 0o700); err != nil {
		return fmt.Errorf("make the folder of its packages: %w", err)
	}
	return writeSettings(filepath.Join(folder, "package-lock.json"), map[string]any{
		"lockfileVersion": 3, "packages": map[string]any{"": map[string]any{"dependencies": map[string]string{"@opencode-ai/plugin": "*"}}},
	})
}

// opencodeProvider precedes the names of the backend's models.
const opencodeProvider = "rehearse/"

// prepareQwen writes Qwen Code's settings and returns how to start it. Its memory, which makes calls of its own
// after each turn, is off.
func prepareQwen(cfg Config, site app.Site) (launch, error) {
	if err := noRetries(cfg); err != nil {
		return launch{}, err
	}
	err := writeSettings(filepath.Join(site.Home, ".qwen", "settings.json"), map[string]any{
		"general":  map[string]any{"enableAutoUpdate": false, "disableAutoUpdate": true, "disableUpdateNag": true},
		"security": map[string]any{"auth": map[string]any{"selectedType": "openai"}},
		"memory":   map[string]any{"enableManagedAutoMemory": false, "enableManagedAutoDream": false, "enableAutoSkill": false},
		"privacy":  map[string]any{"usageStatisticsEnabled": false}, "mcpServers": geminiServers(cfg, site.MCP),
	})
	return launch{
		args: []string{"--approval-mode=auto-edit", "--allowed-tools=run_shell_command"},
		env:  []string{"OPENAI_MODEL=" + cfg.Model},
	}, err
}

// qwenGroup matches the id of a process in the result of a shell command of Qwen Code and Gemini CLI.
var qwenGroup = lazyregexp.New(`(?m)^(Process Group PGID|Background PIDs): .*$`)

// normalizeQwen removes Qwen Code's own notes from a message.
func normalizeQwen(m llm.Message) (llm.Message, bool) {
	switch m.Role {
	case llm.User:
		m.Content = strings.TrimSpace(reminder().ReplaceAllString(m.Content, ""))
		return m, m.Content != ""
	case llm.ToolRole:
		m.Content = qwenGroup().ReplaceAllString(m.Content, "$1: {any}")
	case llm.System, llm.Developer, llm.Assistant:
	}
	return m, true
}

// keepMessage is the normalize function of a program without notes of its own.
func keepMessage(m llm.Message) (llm.Message, bool) { return m, true }

// writeSettings writes a file of settings as JSON, and its folder.
func writeSettings(path string, settings map[string]any) error {
	data, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return fmt.Errorf("encode its settings: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of its settings: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write its settings: %w", err)
	}
	return nil
}
