package cli

import (
	"fmt"
	"slices"
	"strings"
)

// Access is the level of access of a command-line agent. Programs deny everything beyond it, because
// nobody can answer a question.
type Access string

// The levels of access. The package documentation lists the flags of each program for them, and how
// the programs enforce them.
const (
	// ReadOnly allows the agent to read files in its working folder.
	ReadOnly Access = "read-only"
	// Workspace allows the agent to edit files in its working folder and to run shell commands. It
	// is the default.
	Workspace Access = "workspace"
	// Full allows all tools everywhere.
	Full Access = "full"
)

// AccessLevels lists the levels from the narrowest to the widest.
func AccessLevels() []Access { return []Access{ReadOnly, Workspace, Full} }

// permissions has the arguments of a program for each level of access.
type permissions struct {
	flags map[Access][]string
	// env has NAME=value pairs for each level of access of a program without flags for it.
	env map[Access][]string
	// own has the program's flags that change its permissions. If the user's arguments contain one
	// of them, the default level adds no arguments.
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

// The approval mode "plan" of gemini is not read-only here: without a terminal the program leaves it
// and implements the plan.
var geminiPermissions = permissions{
	flags: map[Access][]string{
		ReadOnly:  {"--approval-mode=default"},
		Workspace: {"--approval-mode=auto_edit", "--allowed-tools=run_shell_command"},
		Full:      {"--approval-mode=yolo"},
	},
	own: []string{"--approval-mode", "--yolo", "-y", "--allowed-tools"},
}

// The permissions of opencode are a part of its settings, which one variable extends. Without --auto it
// refuses what would need an approval, such as another folder. Its agent "plan" is not used, because that
// runs shell commands.
var opencodePermissions = permissions{
	flags: map[Access][]string{ReadOnly: nil, Workspace: nil, Full: {"--auto"}},
	env: map[Access][]string{
		ReadOnly: {`OPENCODE_PERMISSION={"edit":"deny","bash":"deny","webfetch":"deny","websearch":"deny","external_directory":"deny"}`},
	},
	own: []string{"--auto", "--agent"},
}

var qwenPermissions = permissions{
	flags: map[Access][]string{
		ReadOnly:  {"--approval-mode=default"},
		Workspace: {"--approval-mode=auto-edit", "--allowed-tools=run_shell_command"},
		Full:      {"--approval-mode=yolo"},
	},
	own: []string{"--approval-mode", "--yolo", "-y", "--allowed-tools", "--exclude-tools", "--core-tools"},
}

// granted returns the arguments for a level of access. The user's permission flags override the
// default level (empty), and conflict with any other level.
func (a agent) granted(access Access, extra []string) ([]string, error) {
	own := slices.IndexFunc(extra, func(arg string) bool { return given([]string{arg}, a.permissions.own...) })
	switch {
	case access != "" && !slices.Contains(AccessLevels(), access):
		return nil, fmt.Errorf("unknown access %q; use one of %s", access, levels())
	case access != "" && a.permissions.flags == nil:
		return nil, fmt.Errorf("access %q is not supported for %s, which has no known permission flags", access, a.id)
	case access != "" && own >= 0:
		return nil, fmt.Errorf("access %q conflicts with the argument %s; use one of them", access, extra[own])
	case access == "" && own >= 0:
		return nil, nil
	case access == "":
		access = Workspace
	}
	return a.permissions.flags[access], nil
}

// confined reports whether the program runs shell commands in a sandbox: codex does, unless its flags
// disable it.
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
