package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// loopFlags are the flags of loop that are no loop.Options.
type loopFlags struct {
	backendFlags
	config     string
	transcript string
	asJSON     bool
}

func (a *app) loopCommand() *cobra.Command {
	var flags loopFlags
	var options loopOptions
	cmd := &cobra.Command{
		Use:   `loop ["PROMPT"|-]`,
		Short: "Run a prompt against a backend until it is done or a guard stops it",
		Long: `loop calls a backend with a prompt again and again, until an answer says that the
work is done or a guard stops the run. It is the real thing: the agent works in
the current folder and may cost money.

A flag overrides ` + configFile + `, which overrides the default; the file has keys for
more than the flags ("rehearse schema config" prints all). With - the prompt is read
from standard input. The answer goes to standard output, everything else to standard
error, and each iteration to the transcript as it ends.

The command-line agents copilot, claude, codex and gemini work without asking, as far as --access
goes: read-only; workspace, the default, which lets them edit files and run commands in the current
folder; or full. Their own permission flags in --agent-arg replace the default, such as
--agent-arg=--allowedTools=Bash,WebFetch for claude. A tool call that is refused is named at the
end, and such a run is never done. exec runs the program that --command names. The API backend
openai only answers; it takes OPENAI_API_KEY and OPENAI_BASE_URL. REHEARSE_OFFLINE=1 forbids every
backend that is not on this machine.

` + loopExitCodes(),
		Example: `  rehearse loop "Fix the failing test. Say DONE on a line of its own when it passes."
  rehearse loop - --backend claude --max-iterations 20 --timeout 2h < task.md
  rehearse loop "Add the login page, with tests" --backend codex --stop-guard balanced
  rehearse loop "Summarise CHANGES" --backend openai --model gpt-4.1-mini --max-cost "0.05 EUR"
  rehearse loop "Lint" --backend exec --command "./agent.sh {prompt}"`,
		Args: arguments(0, 1, "put the prompt in quotes, as one argument"),
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt, err := a.prompt(cmd.Context(), args)
			if err != nil {
				return err
			}
			given := options.given(cmd.Flags())
			given.Prompt, given.Backend, given.Model = prompt, flags.backend, flags.model
			return a.runLoop(cmd.Context(), given, flags)
		},
	}
	f := cmd.Flags()
	options.register(f)
	flags.register(cmd)
	f.StringVar(&flags.config, "config", "", "configuration file (default: "+configFile+" if it is there)")
	f.StringVar(&flags.transcript, "transcript", "", "file for the transcript (default: a new one in "+runsFolder+")")
	f.BoolVar(&flags.asJSON, "json", false, "print the result as JSON on standard output")
	for flag, values := range map[string][]string{
		"mode": {"marker", "json", "answer"}, "history": {"fresh", "conversation"},
		"stop-guard": {"balanced", "strict", "off"}, "todos": {"together", "one-by-one"},
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

// maxPrompt bounds a prompt from standard input.
const maxPrompt = 4 << 20

func loopExitCodes() string {
	var rows []ending
	for _, s := range loop.Statuses() {
		rows = append(rows, ending{s.ExitCode, string(s.Status), s.Meaning})
	}
	return endings(rows, "nothing was called: usage, configuration or no such backend here",
		"Exit code 1 also says that the transcript or the result could not be written.")
}

// prompt is the argument, or standard input if that is "-".
func (a *app) prompt(ctx context.Context, args []string) (string, error) {
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

func (a *app) runLoop(ctx context.Context, given loop.Options, flags loopFlags) error {
	file, err := readConfig(flags.config)
	if err != nil {
		return usage(err)
	}
	settings, err := loop.Resolve(given, file)
	if err != nil {
		return usage(fmt.Errorf("%w; see rehearse loop --help", err))
	}
	flags.backend, flags.model = settings.Backend, settings.Model
	backend, err := a.findBackend(ctx, flags.backendFlags)
	if err != nil {
		return usage(err)
	}
	prices, err := priceTable(flags.prices)
	if err != nil {
		return usage(err)
	}
	transcript, err := openLoopTranscript(flags.transcript, settings)
	if err != nil {
		return usage(err) // noVerdict's code is that of a timeout here
	}
	defer transcript.Close()

	view := a.newLoopView(settings)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var writing error
	result := loop.Run(ctx, settings, loop.Deps{
		Backend:        backend,
		BackendID:      backend.ID(),
		Conversational: backend.ID() == openAI,
		Clock:          clock.Real(),
		Sink:           view,
		OnText:         view.text,
		OnActivity:     view.activity,
		OnIteration: func(e loop.Entry) {
			e = transcript.redactEntry(e)
			view.iteration(e)
			if writing = errors.Join(writing, transcript.add(e)); writing != nil {
				cancel(writing) // no further call is paid for and then lost
			}
		},
		Price:     prices.Pricer(settings.Model),
		EURPerUSD: prices.EURPerUSD,
	})
	view.close()
	result = transcript.redactResult(result)
	if writing == nil {
		writing = transcript.end(result)
	}
	if writing != nil {
		writing = fmt.Errorf("the transcript is not complete: %w", writing)
	}
	if err := errors.Join(a.showResult(result, transcript.path, flags.asJSON), writing); err != nil {
		return &exitError{loop.StatusError.ExitCode(), err}
	}
	return quiet(result.ExitCode)
}

func (a *app) showResult(r loop.Result, transcript string, asJSON bool) error {
	if err := a.printAnswer(r, asJSON); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	term := tty.Of(a.stderr, a.getenv)
	color := tty.Yellow
	if r.Status == loop.StatusDone {
		color = tty.Green
	}
	fmt.Fprintf(a.stderr, "%s after %s in %s", term.Paint(color, string(r.Status)),
		plural(r.Iterations, "iteration"), r.Duration.Round(time.Millisecond))
	if r.Details != "" {
		fmt.Fprintf(a.stderr, ": %s", sanitize.Line(r.Details, 1000))
	}
	fmt.Fprintf(a.stderr, "\ntranscript: %s\n", transcript)
	if len(r.Denials) > 0 {
		fmt.Fprintln(a.stderr, "refused by the agent's permissions:")
		for _, d := range r.Denials {
			fmt.Fprintf(a.stderr, "  %s\n", sanitize.Line(d.String(), 200))
		}
		fmt.Fprintln(a.stderr, "next: permit it with --access, or with the agent's own flags in --agent-arg, and run it again")
	}
	return nil
}

// printAnswer prints the result, or the last answer.
func (a *app) printAnswer(r loop.Result, asJSON bool) error {
	if asJSON {
		return a.printJSON(r)
	}
	return a.printText(r.Text)
}

// printText prints what a model wrote. It moves no cursor on a terminal; a pipe
// gets it as it is.
func (a *app) printText(text string) error {
	if tty.Of(a.stdout, a.getenv) != (tty.Terminal{}) {
		text = sanitize.Text(text, 0)
	}
	_, err := fmt.Fprintln(a.stdout, text)
	return err
}
