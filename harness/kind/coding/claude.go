package coding

import (
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// prepareClaude returns how to start Claude Code. Nobody can approve its actions, so it may
// edit and run commands; everything else, such as the web, is denied. The mode that allows
// everything does not start as root, which many test machines run as.
func prepareClaude(cfg Config, site app.Site) (launch, error) {
	allowed := "--allowedTools=Bash"
	for _, s := range site.MCP {
		allowed += ",mcp__" + s.Name // all tools of the server
	}
	l := launch{
		args: []string{"--permission-mode", "acceptEdits", allowed},
		env: []string{
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		},
	}
	if len(site.MCP) > 0 {
		l.args = append(l.args, "--strict-mcp-config", "--mcp-config="+app.MCPConfig(site.MCP))
		// Otherwise its first call may lack the tools of a server that starts slowly.
		l.env = append(l.env, "MCP_CONNECTION_NONBLOCKING=0", "MCP_CONNECT_TIMEOUT_MS=30000")
		if cfg.ToolTimeout > 0 {
			l.env = append(l.env, "MCP_TOOL_TIMEOUT="+strconv.FormatInt(cfg.ToolTimeout.Milliseconds(), 10))
		}
	}
	if cfg.Model != "" {
		l.env = append(l.env, "ANTHROPIC_MODEL="+cfg.Model)
	}
	if cfg.Retries != nil {
		l.env = append(l.env, "CLAUDE_CODE_MAX_RETRIES="+strconv.Itoa(*cfg.Retries))
	}
	return l, nil
}

// reminder matches a note that Claude Code adds to the user's message: lists of agents and
// skills, the date.
var reminder = lazyregexp.New(`(?s)<system-reminder>.*?</system-reminder>\s*`)

// normalizeClaude removes Claude Code's own notes from a message of the user.
func normalizeClaude(m llm.Message) (llm.Message, bool) {
	if m.Role == llm.User {
		m.Content = strings.TrimSpace(reminder().ReplaceAllString(m.Content, ""))
	}
	return m, m.Content != "" || m.Role != llm.User
}
