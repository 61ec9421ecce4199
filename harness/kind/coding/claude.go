package coding

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/llm"
)

// prepareClaude says how Claude Code is started. Nobody is there to approve anything,
// so it may edit and run commands; what else it might do (the web) is denied. The mode
// that allows all is refused to root, which many machines that test run as.
func prepareClaude(cfg Config, _ app.Site) (launch, error) {
	l := launch{
		args: []string{"--permission-mode", "acceptEdits", "--allowedTools=Bash"},
		env: []string{
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		},
	}
	if cfg.Retries != nil {
		l.env = append(l.env, "CLAUDE_CODE_MAX_RETRIES="+strconv.Itoa(*cfg.Retries))
	}
	return l, nil
}

// reminder is a note that Claude Code adds to what the user says: lists of agents and
// skills, the date.
var reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>\s*`)

// calmClaude takes Claude Code's own notes out of what the user says.
func calmClaude(m llm.Message) (llm.Message, bool) {
	if m.Role == llm.User {
		m.Content = strings.TrimSpace(reminder.ReplaceAllString(m.Content, ""))
	}
	return m, m.Content != "" || m.Role != llm.User
}
