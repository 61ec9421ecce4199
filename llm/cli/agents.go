package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// agent is what is particular to one program.
type agent struct {
	id      string
	program string
	install string // the command that installs it
	// flags are the arguments before the prompt; extra are the user's.
	flags func(model string, extra []string) []string
	// resume are the arguments that continue a session; nil: it cannot be continued.
	resume func(id string) []string
	// promptFlag introduces a prompt on the command line; empty: the prompt
	// always goes to standard input.
	promptFlag string
	// stdinArg says on the command line that the prompt is on standard input.
	stdinArg string
	// systemFlag introduces system text; empty: it is put before the prompt.
	systemFlag string
	// parse takes one line of standard output. It does no I/O of its own.
	parse func(a *answer, line []byte)
	// plain agents write the answer and nothing else: no events, no final one.
	plain bool
	// eventOutranksExit is set where the program is known to exit with a failure
	// after it reported success in its final event.
	eventOutranksExit bool
	// exitKinds are the meanings of the program's own exit statuses.
	exitKinds map[int]llm.ErrorKind
}

// agents lists what New knows. The first is the default of the runner loop.
var agents = []agent{
	{
		id: "copilot", program: "copilot", install: "npm install -g @github/copilot",
		flags: func(model string, extra []string) []string {
			return assemble([]string{"-s", "--output-format", "json", "--allow-all-tools", "--no-ask-user"}, model, extra)
		},
		promptFlag: "-p", parse: copilotLine, eventOutranksExit: true,
	},
	{
		id: "claude", program: "claude", install: "npm install -g @anthropic-ai/claude-code",
		flags: func(model string, extra []string) []string {
			return assemble([]string{"--print", "--output-format", "stream-json", "--verbose"}, model, extra)
		},
		resume:     func(id string) []string { return []string{"--resume", id} },
		systemFlag: "--append-system-prompt", parse: claudeLine,
	},
	{
		id: "codex", program: "codex", install: "npm install -g @openai/codex",
		flags: func(model string, extra []string) []string {
			own := []string{"exec", "--json", "--skip-git-repo-check"}
			if !given(extra, "--sandbox", "-s", "--full-auto", "--yolo", "--dangerously-bypass-approvals-and-sandbox") {
				own = append(own, "--sandbox", "workspace-write")
			}
			return assemble(own, model, extra)
		},
		resume:   func(id string) []string { return []string{"resume", id} },
		stdinArg: "-", parse: codexLine,
		exitKinds: map[int]llm.ErrorKind{2: llm.InvalidRequest},
	},
	{
		id: "gemini", program: "gemini", install: "npm install -g @google/gemini-cli",
		flags: func(model string, extra []string) []string {
			own := []string{"--output-format", "stream-json"}
			if !given(extra, "--approval-mode", "--yolo", "-y") {
				own = append(own, "--approval-mode=yolo")
			}
			return assemble(own, model, extra)
		},
		promptFlag: "-p", parse: geminiLine,
		exitKinds: map[int]llm.ErrorKind{41: llm.Unauthorized, 42: llm.InvalidRequest, 52: llm.InvalidRequest},
	},
	{
		id:    "exec",
		flags: func(_ string, extra []string) []string { return extra },
		parse: plainLine, plain: true,
	},
}

// continues says why the agent cannot continue the session with that id.
func (a agent) continues(id string) error {
	switch {
	case a.resume == nil:
		return fmt.Errorf("the session %q cannot be continued: %s cannot be told which one", id, a.id)
	case strings.HasPrefix(id, "-") || strings.ContainsRune(id, 0):
		return fmt.Errorf("%q is no id of a session", id)
	}
	return nil
}

func assemble(own []string, model string, extra []string) []string {
	if model != "" {
		own = append(own, "--model", model)
	}
	return append(own, extra...)
}

// given reports whether args hold one of the flags, alone or as flag=value.
func given(args []string, flags ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(flags, name)
	})
}
