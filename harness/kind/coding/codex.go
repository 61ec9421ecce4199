package coding

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// codexHome is the folder of Codex's settings within a home.
const codexHome = ".codex"

// codexSettings point Codex at the scripted backend and keep it from calling other hosts:
// by default it requests updates, plugins and feature flags when it starts.
const codexSettings = `%smodel_provider = "rehearse"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false

[model_providers.rehearse]
name = "rehearse"
base_url = %q
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`

// prepareCodex writes Codex's settings and returns how to start it. Its own sandbox is off:
// it needs rights that containers seldom have, and the workspace is temporary.
func prepareCodex(cfg Config, site app.Site) (launch, error) {
	home := filepath.Join(site.Home, codexHome)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return launch{}, fmt.Errorf("make the folder of its settings: %w", err)
	}
	model := ""
	if cfg.Model != "" {
		model = fmt.Sprintf("model = %q\n", cfg.Model)
	}
	settings := fmt.Sprintf(codexSettings, model, site.Backend+"/v1")
	if cfg.Retries != nil {
		// It has two nested loops of retries. The outer one handles all errors, the inner one
		// all but rate limits and broken streams.
		settings += fmt.Sprintf("request_max_retries = 0\nstream_max_retries = %d\n", *cfg.Retries)
	}
	settings += codexServers(cfg, site.MCP)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(settings), 0o600); err != nil {
		return launch{}, fmt.Errorf("write its settings: %w", err)
	}
	l := launch{
		args: []string{"--dangerously-bypass-approvals-and-sandbox"},
		env:  []string{"CODEX_HOME=" + home},
	}
	if cfg.Guard != "" {
		// A hook runs only after a person has trusted it in the terminal.
		l.args = append(l.args, "--dangerously-bypass-hook-trust")
	}
	return l, nil
}

// codexServers returns the settings of MCP servers.
func codexServers(cfg Config, servers []app.MCPServer) string {
	var b strings.Builder
	for _, s := range servers {
		// Otherwise its first call may lack the tools of a server that starts slowly.
		fmt.Fprintf(&b, "\n[mcp_servers.%s]\nrequired = true\n", s.Name)
		if cfg.ToolTimeout > 0 {
			fmt.Fprintf(&b, "tool_timeout_sec = %g\n", cfg.ToolTimeout.Seconds())
		}
		if len(s.Command) == 0 {
			fmt.Fprintf(&b, "url = %q\n", s.URL)
			continue
		}
		args := make([]string, len(s.Command)-1)
		for i, arg := range s.Command[1:] {
			args[i] = strconv.Quote(arg)
		}
		fmt.Fprintf(&b, "command = %q\nargs = [%s]\n", s.Command[0], strings.Join(args, ", "))
	}
	return b.String()
}

var (
	// environmentNote matches the description of the machine that Codex sends as the user.
	environmentNote = lazyregexp.New(`(?s)^\s*<environment_context>.*</environment_context>\s*$`)
	hookRun         = lazyregexp.New(`<hook_prompt hook_run_id="[^"]*">`)
	// ranNote matches what differs from run to run in the lines before a command's output.
	ranNote = lazyregexp.New(`(?m)^(Chunk ID:|Wall time:?) [0-9a-f.]+`)
)

// normalizeCodex removes Codex's own notes from a message.
func normalizeCodex(m llm.Message) (llm.Message, bool) {
	switch m.Role {
	case llm.User:
		if environmentNote().MatchString(m.Content) {
			return m, false
		}
		m.Content = strings.TrimSpace(hookRun().ReplaceAllString(m.Content, "<hook_prompt>"))
	case llm.ToolRole:
		if note, output, ran := strings.Cut(m.Content, "\nOutput:"); ran {
			m.Content = ranNote().ReplaceAllString(note, "$1 {any}") + "\nOutput:" + output
		} else if strings.HasSuffix(note, "\naborted by user") {
			m.Content = ranNote().ReplaceAllString(note, "$1 {any}")
		}
	case llm.System, llm.Developer, llm.Assistant:
	}
	return m, true
}
