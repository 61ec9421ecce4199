package cli

import (
	"fmt"
	"slices"
	"strings"
)

// Access is the level of access that a command-line agent has. Nobody is there to
// answer, so each program denies what is beyond it. It is text on the command line.
type Access string

// The levels of access. The table in the package documentation lists the flags
// that each program is given for them, and what keeps it to them.
const (
	// ReadOnly lets the agent read files in its working folder and change nothing.
	ReadOnly Access = "read-only"
	// Workspace lets the agent edit files in its working folder and run shell
	// commands. It is the default.
	Workspace Access = "workspace"
	// Full lets the agent use every tool, everywhere.
	Full Access = "full"
)

// AccessLevels lists the levels from the narrowest to the widest.
func AccessLevels() []Access { return []Access{ReadOnly, Workspace, Full} }

// permissions are the arguments of a program for each level of access.
type permissions struct {
	flags map[Access][]string
	// own are the program's flags that change its permissions. Where the user's
	// arguments hold one of them, the default level adds nothing.
	own []string
}

var copilotPermissions = permissions{
	flags: map[Access][]string{
		ReadOnly:  {"--deny-tool=write", "--deny-tool=shell", "--disable-builtin-mcps"},
		Workspace: {"--allow-all-tools"},
		Full:      {"--allow-all-tools", "--allow-all-paths", "--allow-all-urls"},
	},
	own: []string{
		"--allow-all-tools", "--allow-all-paths", "--allow-all-urls", "--allow-all", "--yolo", "--allow-tool", "--deny-tool",
		"--available-tools", "--excluded-tools",
	},
}

var claudePermissions = permissions{
	flags: map[Access][]string{
		ReadOnly:  {"--permission-mode", "dontAsk", "--tools=Read,Glob,Grep", "--strict-mcp-config"},
		Workspace: {"--permission-mode", "acceptEdits", "--allowedTools=Bash"},
		Full:      {"--permission-mode", "bypassPermissions"},
	},
	own: []string{
		"--permission-mode", "--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools", "--tools",
		"--dangerously-skip-permissions", "--permission-prompt-tool",
	},
}

var codexPermissions = permissions{
	flags: map[Access][]string{
		ReadOnly:  {"--sandbox", "read-only"},
		Workspace: {"--sandbox", "workspace-write"},
		Full:      {"--sandbox", "danger-full-access"},
	},
	own: []string{"--sandbox", "-s", "--full-auto", "--yolo", "--dangerously-bypass-approvals-and-sandbox", "--approve-for-me"},
}

// The approval mode "plan" of gemini is not read-only here: without a terminal the
// program leaves that mode by itself and goes on to implement the plan.
var geminiPermissions = permissions{
	flags: map[Access][]string{
		ReadOnly:  {"--approval-mode=default"},
		Workspace: {"--approval-mode=auto_edit", "--allowed-tools=run_shell_command"},
		Full:      {"--approval-mode=yolo"},
	},
	own: []string{"--approval-mode", "--yolo", "-y", "--allowed-tools"},
}

// granted returns the arguments for a level of access; empty is the default, which
// gives way to the user's own arguments. A level that is asked for and own
// permission flags contradict each other.
func (a agent) granted(access Access, extra []string) ([]string, error) {
	own := slices.IndexFunc(extra, func(arg string) bool { return given([]string{arg}, a.permissions.own...) })
	switch {
	case access != "" && !slices.Contains(AccessLevels(), access):
		return nil, fmt.Errorf("access %q is not known; use one of %s", access, levels())
	case access != "" && a.permissions.flags == nil:
		return nil, fmt.Errorf("access %q cannot be given to %s, which has no permission flags that are known here", access, a.id)
	case access != "" && own >= 0:
		return nil, fmt.Errorf("access %q and the argument %s contradict each other; give one of them", access, extra[own])
	case access == "" && own >= 0:
		return nil, nil
	case access == "":
		access = Workspace
	}
	return a.permissions.flags[access], nil
}

// confined reports whether the program runs shell commands in a sandbox: codex does,
// unless its flags change that.
func (b *adapter) confined() bool {
	args := b.agent.arguments(b.cfg, "")
	return b.agent.id == "codex" && !given(args, "--yolo", "--dangerously-bypass-approvals-and-sandbox") &&
		!slices.ContainsFunc(args, func(arg string) bool { return strings.HasSuffix(arg, "danger-full-access") })
}

func levels() string {
	names := make([]string, 0, len(AccessLevels()))
	for _, level := range AccessLevels() {
		names = append(names, string(level))
	}
	return strings.Join(names, ", ")
}
