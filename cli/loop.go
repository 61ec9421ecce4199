package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/cli/config"
	"github.com/rehearse-dev/rehearse/internal/input"
)

// loopFlags are the flags of loop other than loop.Options.
type loopFlags struct {
	backendFlags
	config     string
	transcript string
	continued  bool
	answer     string // of a person, with continued
	promptFile string
	todoFile   string
	quiet      bool
	events     bool
	asJSON     bool
	safetyFlags
}

func (l *loopFlags) register(cmd *cobra.Command) {
	l.backendFlags.register(cmd)
	l.safetyFlags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&l.config, "config", "", "configuration file (default: "+config.Name+" if it is there)")
	f.StringVar(&l.transcript, "transcript", "", "file for the transcript (default: a new one in "+runsFolder+")")
	f.BoolVar(&l.continued, "continue", false, "continue a run from its transcript (default: the latest in "+runsFolder+")")
	f.StringVar(&l.answer, "answer", "", "with --continue: the answer to an agent that handed over to a person")
	f.StringVar(&l.promptFile, "prompt-file", "", "read the prompt from this `file`, again before each iteration")
	f.StringVar(&l.todoFile, "todo-file", "", "a `file` whose changes are progress, such as the agent's list of tasks")
	f.BoolVarP(&l.quiet, "quiet", "q", false, "show no iterations, and at the end nothing but the answer of a run that is done")
	f.BoolVar(&l.events, "events", false, "print the lines of the transcript on standard output as they are written, as JSON lines")
	jsonFlag(f, &l.asJSON, "the result")
	cmd.MarkFlagsMutuallyExclusive("events", "json")
}

func (a *app) loopCommand() *cobra.Command {
	var flags loopFlags
	var options loopOptions
	cmd := &cobra.Command{
		Use:   `loop ["PROMPT"|-] | loop --continue [TRANSCRIPT]`,
		Short: "Repeat a prompt until the work is done or a guard stops it",
		Long: `loop calls a backend with a prompt again and again, until an answer says that the
work is done or a guard stops the run. This is not a rehearsal: the agent works in
the current folder and may cost money.

Each prompt ends with a contract, in the language of the prompt: how the agent reports that everything
is finished (by default with the line DONE), that work is left, or that it needs a person (BLOCKED:).
--contract replaces it, and --no-contract leaves it out.

With --check a command must succeed before a completion counts; its output is the next prompt otherwise.

A flag overrides ` + config.Name + `, which overrides the default; the file has keys for
more than the flags ("rehearse schema config" prints all). With - the prompt is read
from standard input. The answer goes to standard output, everything else to standard
error, and each iteration to the transcript as it ends.

--continue resumes a run that was interrupted, was killed or reached a limit: with its settings, counters
and budget, in the session of its agent. Flags may raise limits. The transcript is appended to. All
command-line agents but gemini and exec continue their session from one iteration to the next, so that
only the new prompt is sent; --fresh-session begins a new one each time.

The command-line agents copilot, claude, codex, gemini, opencode and qwen work without asking for permission, within
--access: read-only; workspace, the default, which lets them edit files and run commands in the
current folder; or full. Their own permission flags in --agent-arg replace the default, such as
--agent-arg=--allowedTools=Bash,WebFetch for claude. Refused tool calls are listed at the end, and
such a run is never done. exec runs the program that --command names. The API backend
openai only answers; it takes OPENAI_API_KEY and OPENAI_BASE_URL. REHEARSE_OFFLINE=1 forbids every
backend that is not on this machine.

With --git, a checkpoint of your files is committed to a branch of its own before the run and after each
answered iteration; --rollback restores the last one after a failed iteration (docs/how-to/safety.md). With --sandbox
(Linux) the agent and the checks can write only to the current folder and to their program's state.

` + loopExitCodes(),
		Example: `  rehearse loop "Fix the failing test" --check "go test ./..."
  rehearse loop - --backend claude --max-iterations 20 --timeout 2h < task.md
  rehearse loop "Add the login page, with tests" -b codex --stop-guard balanced
  rehearse loop --continue --max-iterations 40
  rehearse loop "Summarise CHANGES" -b openai -m gpt-4.1-mini --max-cost 0.05EUR
  rehearse loop "Lint" --backend exec --command "./agent.sh {prompt}"`,
		Args: arguments(0, 1, "put the prompt in quotes, as one argument; with --continue, give only the transcript"),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := options.given(cmd.Flags())
			if flags.continued {
				return a.continueLoop(cmd, given, flags, args)
			}
			if flags.answer != "" {
				return usage(errors.New("--answer is for --continue"))
			}
			return a.beginLoop(cmd.Context(), given, flags, args)
		},
	}
	f := cmd.Flags()
	options.register(f)
	flags.register(cmd)
	cmd.MarkFlagsMutuallyExclusive("fresh-session", "history")
	cmd.MarkFlagsMutuallyExclusive("contract", "no-contract")
	for flag, values := range map[string][]string{
		"language": {"en", "fr"}, "mode": {"marker", "json", "answer"}, "history": {"session", "fresh", "conversation"},
		"stop-guard": {"balanced", "strict", "careful", "off"}, "todos": {"together", "one-by-one"},
	} {
		complete(cmd, flag, values...)
	}
	return cmd
}

// maxPrompt limits a prompt from standard input.
const maxPrompt = 4 << 20

func loopExitCodes() string {
	return endings(loop.Statuses(), "nothing was called: usage, configuration or no such backend here",
		"Exit code 1 is also returned where the transcript or the result could not be written.")
}

// prompt returns the content of the prompt file, the argument, or standard input if it is "-".
func (a *app) prompt(ctx context.Context, args []string, file string) (string, error) {
	switch {
	case file != "" && len(args) > 0:
		return "", usage(errors.New("give the prompt or --prompt-file, not both"))
	case file != "":
		text, err := readPromptFile(file)
		if err != nil {
			return "", usage(err)
		}
		return text, nil
	}
	if len(args) == 0 || args[0] != "-" {
		return strings.Join(args, ""), nil
	}
	data, err := input.ReadAll(ctx, a.stdin, maxPrompt)
	switch {
	case ctx.Err() != nil:
		return "", quiet(exitInterrupted)
	case err != nil:
		return "", usage(fmt.Errorf("read the prompt from standard input: %w", err))
	}
	return string(data), nil
}
