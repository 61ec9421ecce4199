package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// agent has the properties of one program.
type agent struct {
	id      string
	program string
	install string // the command that installs it
	tested  string // the version that the adapter was tested with; may be empty
	// flags precede the arguments for the permissions and the model, and the user's.
	flags []string
	// permissions has the arguments for each level of access; may be empty.
	permissions permissions
	// resume has the arguments that continue a session; nil if the program cannot.
	resume func(id string) []string
	// promptFlag precedes a prompt on the command line; if it is empty, the prompt always goes to
	// standard input.
	promptFlag string
	// stdinArg is the argument for a prompt on standard input.
	stdinArg string
	// systemFlag precedes system text; if it is empty, the system text precedes the prompt.
	systemFlag string
	// turnsFlag and costFlag precede the limits of a call; empty if the program has none.
	turnsFlag, costFlag string
	// sandboxCheck has the arguments that start a command in the program's own sandbox, if it has one.
	sandboxCheck []string
	// parse processes one line of standard output. It does no I/O.
	parse func(a *answer, line []byte)
	// complaints processes the end of standard error, which may have details that the events omit;
	// may be nil.
	complaints func(a *answer, stderr string)
	// plain agents write only the answer, without events.
	plain bool
	// eventOutranksExit is true if the program may exit with a failure after a final event that
	// reports success.
	eventOutranksExit bool
	// exitKinds maps exit statuses of the program to kinds of error.
	exitKinds map[int]llm.ErrorKind
}

// agents lists the known agents. The first one is the default of the runner loop.
var agents = []agent{
	{
		id: "copilot", program: "copilot", install: "npm install -g @github/copilot", tested: "1.0.102",
		flags: []string{"-s", "--output-format", "json", "--no-ask-user"}, permissions: copilotPermissions,
		resume:     func(id string) []string { return []string{"--resume=" + id} },
		promptFlag: "-p", parse: copilotLine, eventOutranksExit: true,
	},
	{
		id: "claude", program: "claude", install: "npm install -g @anthropic-ai/claude-code", tested: "2.1.197",
		flags: []string{"--print", "--output-format", "stream-json", "--verbose"}, permissions: claudePermissions,
		resume:     func(id string) []string { return []string{"--resume", id} },
		systemFlag: "--append-system-prompt", turnsFlag: "--max-turns", costFlag: "--max-budget-usd", parse: claudeLine,
	},
	{
		id: "codex", program: "codex", install: "npm install -g @openai/codex", tested: "0.169.0",
		flags: []string{"exec", "--json", "--skip-git-repo-check"}, permissions: codexPermissions,
		resume:   func(id string) []string { return []string{"resume", id} },
		stdinArg: "-", parse: codexLine, complaints: codexComplaints, sandboxCheck: []string{"sandbox", "--", "true"},
		exitKinds: map[int]llm.ErrorKind{2: llm.InvalidRequest},
	},
	{
		id: "gemini", program: "gemini", install: "npm install -g @google/gemini-cli", tested: "0.61.0",
		flags: []string{"--output-format", "stream-json"}, permissions: geminiPermissions,
		resume:     func(id string) []string { return []string{"--resume", id} },
		promptFlag: "-p", parse: geminiLine,
		exitKinds: map[int]llm.ErrorKind{41: llm.Unauthorized, 42: llm.InvalidRequest, 52: llm.InvalidRequest},
	},
	{
		id: "opencode", program: "opencode", install: "npm install -g opencode-ai", tested: "1.18.33",
		flags: []string{"run", "--format", "json"}, permissions: opencodePermissions,
		resume: func(id string) []string { return []string{"--session", id} },
		parse:  opencodeLine,
	},
	{
		id: "qwen", program: "qwen", install: "npm install -g @qwen-code/qwen-code", tested: "0.24.4",
		flags: []string{"--output-format", "stream-json"}, permissions: qwenPermissions,
		resume:     func(id string) []string { return []string{"--resume", id} },
		systemFlag: "--append-system-prompt", parse: qwenLine,
	},
	{
		id: "exec", parse: plainLine, plain: true,
	},
}

// continues returns an error if the agent cannot continue the session.
func (a agent) continues(id string) error {
	switch {
	case a.resume == nil:
		return fmt.Errorf("cannot continue the session %q: %s has no argument for a session", id, a.id)
	case id == "" || strings.HasPrefix(id, "-") || strings.ContainsRune(id, 0):
		return fmt.Errorf("%q is not a session id", id)
	}
	return nil
}

// arguments returns the arguments before the prompt.
func (a agent) arguments(cfg Config, model string) []string {
	args := slices.Clone(a.flags)
	granted, _ := a.granted(cfg.Access, cfg.ExtraArgs) // New refused what is wrong
	args = append(args, granted...)
	if model != "" && !a.plain {
		args = append(args, "--model", model)
	}
	return append(args, cfg.ExtraArgs...)
}

// bounds returns the arguments for the limits of a request, unless args have such limits of the user.
func (a agent) bounds(args []string, req llm.Request) []string {
	var flags []string
	if a.turnsFlag != "" && req.MaxTurns > 0 && !given(args, a.turnsFlag) {
		flags = append(flags, a.turnsFlag, strconv.Itoa(req.MaxTurns))
	}
	if a.costFlag != "" && req.MaxUSD > 0 && !given(args, a.costFlag) {
		flags = append(flags, a.costFlag, strconv.FormatFloat(req.MaxUSD, 'f', -1, 64))
	}
	return flags
}

// given reports whether args contain one of the flags, alone or as flag=value.
func given(args []string, flags ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(flags, name)
	})
}
