package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// agent has the properties of one program.
type agent struct {
	id      string
	program string
	install string // the command that installs it
	// flags are the arguments before the permissions, the model and the user's own.
	flags []string
	// permissions are the arguments for each level of access; none: it has no such flags.
	permissions permissions
	// resume are the arguments that continue a session; nil: it cannot be continued.
	resume func(id string) []string
	// promptFlag introduces a prompt on the command line; empty: the prompt
	// always goes to standard input.
	promptFlag string
	// stdinArg is the argument for a prompt on standard input.
	stdinArg string
	// systemFlag introduces system text; empty: it is put before the prompt.
	systemFlag string
	// parse takes one line of standard output. It does no I/O of its own.
	parse func(a *answer, line []byte)
	// complaints takes the end of standard error, where it says what the events leave
	// out; nil: they leave nothing out.
	complaints func(a *answer, stderr string)
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
		flags: []string{"-s", "--output-format", "json", "--no-ask-user"}, permissions: copilotPermissions,
		promptFlag: "-p", parse: copilotLine, eventOutranksExit: true,
	},
	{
		id: "claude", program: "claude", install: "npm install -g @anthropic-ai/claude-code",
		flags: []string{"--print", "--output-format", "stream-json", "--verbose"}, permissions: claudePermissions,
		resume:     func(id string) []string { return []string{"--resume", id} },
		systemFlag: "--append-system-prompt", parse: claudeLine,
	},
	{
		id: "codex", program: "codex", install: "npm install -g @openai/codex",
		flags: []string{"exec", "--json", "--skip-git-repo-check"}, permissions: codexPermissions,
		resume:   func(id string) []string { return []string{"resume", id} },
		stdinArg: "-", parse: codexLine, complaints: codexComplaints,
		exitKinds: map[int]llm.ErrorKind{2: llm.InvalidRequest},
	},
	{
		id: "gemini", program: "gemini", install: "npm install -g @google/gemini-cli",
		flags: []string{"--output-format", "stream-json"}, permissions: geminiPermissions,
		promptFlag: "-p", parse: geminiLine,
		exitKinds: map[int]llm.ErrorKind{41: llm.Unauthorized, 42: llm.InvalidRequest, 52: llm.InvalidRequest},
	},
	{
		id: "exec", parse: plainLine, plain: true,
	},
}

// continues returns an error if the agent cannot continue the session with that id.
func (a agent) continues(id string) error {
	switch {
	case a.resume == nil:
		return fmt.Errorf("the session %q cannot be continued: %s cannot be told which one", id, a.id)
	case strings.HasPrefix(id, "-") || strings.ContainsRune(id, 0):
		return fmt.Errorf("%q is not a session id", id)
	}
	return nil
}

// arguments are those before the prompt.
func (a agent) arguments(cfg Config, model string) []string {
	args := slices.Clone(a.flags)
	granted, _ := a.granted(cfg.Access, cfg.ExtraArgs) // New refused what is wrong
	args = append(args, granted...)
	if model != "" && !a.plain {
		args = append(args, "--model", model)
	}
	return append(args, cfg.ExtraArgs...)
}

// given reports whether args hold one of the flags, alone or as flag=value.
func given(args []string, flags ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(flags, name)
	})
}
