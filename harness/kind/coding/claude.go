package coding

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/llm"
)

// prepareClaude returns how to start Claude Code. Nobody can approve its actions, so it may
// edit and run commands; everything else, such as the web, is denied. The mode that allows
// everything does not start as root, which many test machines run as.
func prepareClaude(cfg Config, _ app.Site) (launch, error) {
	l := launch{
		args: []string{"--permission-mode", "acceptEdits", "--allowedTools=Bash"},
		env: []string{
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		},
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
var reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>\s*`)

// normalizeClaude removes Claude Code's own notes from a message of the user.
func normalizeClaude(m llm.Message) (llm.Message, bool) {
	if m.Role == llm.User {
		m.Content = strings.TrimSpace(reminder.ReplaceAllString(m.Content, ""))
	}
	return m, m.Content != "" || m.Role != llm.User
}
