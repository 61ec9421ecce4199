package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/internal/unit"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/llm/price"
)

// loopFlags are the flags of loop that are no loop.Options.
type loopFlags struct {
	config     string
	transcript string
	command    string
	extra      []string
	prices     string
	asJSON     bool
}

func (a *app) loopCommand() *cobra.Command {
	var flags loopFlags
	var options loopOptions
	cmd := &cobra.Command{
		Use:   `loop ["PROMPT"|-]`,
		Short: "Run a prompt against a backend until it is done or a guard stops it",
		Long: `loop calls a backend with a prompt again and again, until an answer says that the work is done or
a guard stops the run. It is the real thing: the agent works in the current folder and may cost money.
A flag overrides ` + configFile + `, which overrides the default. With - the prompt is read from
standard input. The answer goes to standard output, everything else to standard error, and each
iteration to the transcript as it ends.

Command-line agents (copilot, claude, codex, gemini) run with the flags that let them work without
asking; ` + "`exec`" + ` runs the program that --command names. The API backend openai takes OPENAI_API_KEY and
OPENAI_BASE_URL. REHEARSE_OFFLINE=1 forbids every backend that is not on this machine.

` + loopExitCodes(),
		Example: `  rehearse loop "Fix the failing test. Say DONE on a line of its own when it passes."
  rehearse loop - --backend claude --max-iterations 20 --timeout 2h < task.md
  rehearse loop "Summarise CHANGES" --backend openai --model gpt-4.1-mini --max-cost "0.05 EUR"
  rehearse loop "Lint" --backend exec --command "./agent.sh {prompt}"`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			given, err := options.given(cmd.Flags())
			if err != nil {
				return usage(err)
			}
			if given.Prompt, err = a.prompt(args); err != nil {
				return usage(err)
			}
			return a.runLoop(cmd.Context(), given, flags)
		},
	}
	f := cmd.Flags()
	options.register(f)
	f.StringVar(&flags.config, "config", "", "configuration file (default: "+configFile+" if it is there)")
	f.StringVar(&flags.transcript, "transcript", "", "file for the transcript (default: a new one in "+runsFolder+")")
	f.StringVar(&flags.command, "command", "", "the program of backend exec, with its arguments; {prompt} or {prompt_file} stands for the prompt")
	f.StringSliceVar(&flags.extra, "agent-arg", nil, "a further argument for a command-line agent")
	f.StringVar(&flags.prices, "prices", "", "a price file whose entries override the shipped table")
	f.BoolVar(&flags.asJSON, "json", false, "print the result as JSON on standard output")
	_ = cmd.RegisterFlagCompletionFunc("backend", cobra.FixedCompletions(append(cli.IDs(), openAI), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// openAI is the id of the API backend.
const openAI = "openai"

// maxPrompt bounds a prompt from standard input.
const maxPrompt = 4 << 20

func loopExitCodes() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, row := range loop.Statuses() {
		fmt.Fprintf(&b, "  %-4d %s: %s\n", row.ExitCode, row.Status, row.Meaning)
	}
	b.WriteString("  2    usage or configuration, or the backend is not available: nothing was called")
	return b.String()
}

func (a *app) prompt(args []string) (string, error) {
	if len(args) == 0 || args[0] != "-" {
		return strings.Join(args, ""), nil
	}
	data, err := io.ReadAll(io.LimitReader(a.stdin, maxPrompt+1))
	if err != nil {
		return "", fmt.Errorf("read the prompt from standard input: %w", err)
	}
	if len(data) > maxPrompt {
		return "", fmt.Errorf("the prompt on standard input is longer than %d bytes", maxPrompt)
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
	backend, err := a.findBackend(ctx, settings, flags)
	if err != nil {
		return usage(err)
	}
	prices, err := priceTable(flags.prices)
	if err != nil {
		return usage(err)
	}
	transcript, err := openTranscript(flags.transcript)
	if err != nil {
		return noVerdict(err)
	}
	defer transcript.Close()

	view := newLoopView(a.stderr, tty.Of(a.stderr, a.getenv), settings)
	var writing error
	result := loop.Run(ctx, settings, loop.Deps{
		Backend:        backend,
		BackendID:      backend.ID(),
		Conversational: backend.ID() == openAI,
		Clock:          clock.Real(),
		Sink:           view,
		OnText:         view.text,
		OnIteration: func(e loop.Entry) {
			view.iteration(e)
			if err := transcript.add(e); err != nil && writing == nil {
				writing = err
			}
		},
		Price:     tablePricer(prices, settings.Model),
		EURPerUSD: eurPerUSD(prices),
	})
	view.close()
	if err := transcript.end(result); err != nil && writing == nil {
		writing = err
	}
	if writing != nil {
		fmt.Fprintf(a.stderr, "rehearse: the transcript is not complete: %v\n", writing)
	}
	return a.showResult(result, transcript.path, flags.asJSON)
}

func (a *app) showResult(r loop.Result, transcript string, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(r); err != nil {
			return noVerdict(err)
		}
	} else {
		fmt.Fprintln(a.stdout, r.Text)
	}
	fmt.Fprintf(a.stderr, "%s after %d iterations in %s", r.Status, r.Iterations, r.Duration.Round(time.Millisecond))
	if r.Details != "" {
		fmt.Fprintf(a.stderr, ": %s", r.Details)
	}
	fmt.Fprintf(a.stderr, "\ntranscript: %s\n", transcript)
	return quiet(r.ExitCode)
}

// findBackend finds an available adapter, or says which ones are.
func (a *app) findBackend(ctx context.Context, s loop.Settings, flags loopFlags) (llm.Adapter, error) {
	cfg := openai.FromEnv(a.getenv)
	var adapters []llm.Adapter
	for _, id := range cli.IDs() {
		adapter, err := cli.New(id, cli.Config{
			Command:   commandOf(id, flags.command),
			Model:     s.Model,
			ExtraArgs: flags.extra,
		})
		if err != nil {
			return nil, err
		}
		if cfg.Offline && id != "exec" {
			adapter = offline{adapter}
		}
		adapters = append(adapters, adapter)
	}
	cfg.Model = s.Model
	api, err := openai.New(cfg)
	switch {
	case err == nil:
		adapters = append(adapters, api)
	case s.Backend == openAI:
		return nil, err
	}
	return llm.NewRegistry(adapters...).Find(ctx, s.Backend)
}

// commandOf splits the command line of exec at its spaces.
func commandOf(id, command string) []string {
	if id != "exec" {
		return nil
	}
	return strings.Fields(command)
}

// offline is an adapter that must not be used.
type offline struct{ llm.Adapter }

// Available implements llm.Adapter.
func (offline) Available(context.Context) error {
	return fmt.Errorf("REHEARSE_OFFLINE forbids it, as it calls a model elsewhere")
}

// tablePricer prices usage by the table; asked is the model that the user chose,
// for backends that do not say which one answered.
func tablePricer(prices *price.Table, asked string) func(string, llm.Usage) (unit.Money, bool) {
	return func(model string, u llm.Usage) (unit.Money, bool) {
		if model == "" {
			model = asked
		}
		quote, ok := prices.Quote(model)
		if !ok {
			return unit.Money{}, false
		}
		return quote.Cost(u), true
	}
}

// eurPerUSD is the table's rate, which every quote carries.
func eurPerUSD(prices *price.Table) float64 {
	for _, model := range prices.Models() {
		if quote, ok := prices.Quote(model); ok {
			return quote.EURPerUSD
		}
	}
	return 0
}

// openTranscript begins the transcript of a run.
func openTranscript(path string) (*transcript, error) {
	if path == "" {
		path = filepath.Join(runsFolder, "loop-"+time.Now().UTC().Format("20060102-150405.000")+".jsonl")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the transcript: %w; choose another file with --transcript", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin the transcript: %w; choose another file with --transcript", err)
	}
	return &transcript{path: path, File: file}, nil
}
