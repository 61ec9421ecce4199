package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

// The ids of the backends with flags of their own.
const (
	backendOpenAI = "openai"
	backendExec   = "exec"
)

// backendIDs lists all backends.
func backendIDs() []string { return append(cli.IDs(), backendOpenAI) }

// backendFlags choose the backend of an agent.
type backendFlags struct {
	backend, model string
	command        string
	extra          []string
	access         string // a cli.Access; empty: the default
	// observer is true if the agent's own tools must not change anything: it may only read,
	// unless the user chose its permissions. Backend exec, the user's own program, has no levels
	// of access and is started in the current folder.
	observer bool
	prices   string
	env      []string // for a command-line agent, in addition to this process's
	dir      string   // where a command-line agent works; empty: here
	wrapper  []string // precedes the command line of the agent, such as that of a sandbox
}

func (b *backendFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&b.backend, "backend", "b", "",
		fmt.Sprintf("%s or %s (default %s)", strings.Join(cli.IDs(), ", "), backendOpenAI, loop.Defaults().Backend))
	f.StringVarP(&b.model, "model", "m", "", "model (default: the backend's own)")
	f.StringVar(&b.command, "command", "", "the program of backend exec and its arguments, split at spaces; {prompt} or "+
		"{prompt_file} stands for the prompt, which otherwise goes to standard input")
	f.StringArrayVar(&b.extra, "agent-arg", nil, "a further argument for a command-line agent")
	f.StringVar(&b.access, "access", "", "what a command-line agent may do without asking: read-only, workspace (edit files and "+
		"run commands in its folder) or full (default "+string(cli.Workspace)+")")
	pricesFlag(f, &b.prices)
	complete(cmd, "access", namesOf(cli.AccessLevels())...)
	complete(cmd, "backend", backendIDs()...)
}

// findBackend returns an available adapter; its error names the available ones.
func (a *app) findBackend(ctx context.Context, flags backendFlags) (llm.Adapter, error) {
	if err := checkBackendFlags(flags); err != nil {
		return nil, err
	}
	id, api := flags.backend, openai.FromEnv(a.getenv)
	var adapters []llm.Adapter
	for _, known := range cli.IDs() {
		adapter, err := cli.New(known, flags.agentConfig(known))
		if err != nil {
			return nil, err
		}
		if api.Offline && known != backendExec {
			adapter = offline{adapter}
		}
		adapters = append(adapters, adapter)
	}
	api.Model = flags.model
	adapter, err := openai.New(api)
	switch {
	case err == nil:
		adapters = append(adapters, adapter)
	case id == backendOpenAI:
		return nil, err
	}
	found, err := llm.FindAdapter(ctx, id, adapters...)
	if err != nil && !slices.Contains(backendIDs(), id) {
		return nil, fmt.Errorf("%w%s", err, suggest.Hint(id, backendIDs()))
	}
	if err == nil {
		if note := cli.VersionNote(ctx, found); note != "" {
			fmt.Fprintf(a.stderr, "rehearse: %s\n", sanitize.Line(note, maxNote))
		}
	}
	if err == nil && !flags.observer { // an observer only answers
		err = cli.CheckSandbox(ctx, found)
	}
	return found, err
}

// maxNote limits a note about the version of a program, in characters.
const maxNote = 400

// agentConfig returns the settings of the command-line agent with that id. Permissions
// and further arguments apply only to the agent that was chosen.
func (b *backendFlags) agentConfig(id string) cli.Config {
	cfg := cli.Config{Model: b.model, Dir: b.dir, Env: b.env, Wrapper: b.wrapper}
	if id == backendExec {
		cfg.Command = b.program()
		if b.observer {
			cfg.Dir = ""
		}
	}
	if id == b.backend {
		cfg.Access, cfg.ExtraArgs = cli.Access(b.access), b.extra
		if b.observer && b.access == "" && len(b.extra) == 0 && id != backendExec {
			cfg.Access = cli.ReadOnly
		}
	}
	return cfg
}

// offline wraps an adapter that calls a model on another machine, which REHEARSE_OFFLINE forbids.
type offline struct{ llm.Adapter }

// Available implements llm.Adapter.
func (offline) Available(context.Context) error {
	return errors.New("REHEARSE_OFFLINE forbids it, as it calls a model elsewhere")
}

// program returns the command line of --command. A path is relative to the current folder,
// wherever the program runs.
func (b *backendFlags) program() []string {
	program := strings.Fields(b.command)
	if len(program) > 0 && strings.ContainsRune(program[0], filepath.Separator) {
		if path, err := filepath.Abs(program[0]); err == nil {
			program[0] = path
		}
	}
	return program
}

// checkBackendFlags returns an error for flags that the backend would ignore.
func checkBackendFlags(flags backendFlags) error {
	switch id := flags.backend; {
	case id == backendExec && strings.TrimSpace(flags.command) == "":
		return errors.New("backend exec runs the program that --command names, which is missing")
	case id != backendExec && flags.command != "":
		return fmt.Errorf("--command is for backend exec, and the backend is %s", id)
	case (id == backendOpenAI || id == backendExec) && flags.access != "":
		return fmt.Errorf("--access is for copilot, claude, codex, gemini, opencode and qwen, and the backend is %s", id)
	case flags.access != "" && !slices.Contains(namesOf(cli.AccessLevels()), flags.access):
		return notAmong("access level", flags.access, namesOf(cli.AccessLevels()))
	case id == backendOpenAI && len(flags.extra) > 0:
		return errors.New("--agent-arg is for command-line agents, and the backend is openai")
	}
	return nil
}

// actsOnFiles reports whether a worker with this backend can change files with its own tools.
func (b *backendFlags) actsOnFiles() bool {
	return b.backend != backendOpenAI && cli.Access(b.access) != cli.ReadOnly
}
