package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/loop/cli"
	"github.com/rehearse-dev/rehearse/cli/config"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
)

// beginLoop begins a new run.
func (a *app) beginLoop(ctx context.Context, given loop.Options, flags loopFlags, args []string) error {
	prompt, err := a.prompt(ctx, args, flags.promptFile)
	if err != nil {
		return err
	}
	given.Prompt, given.Backend, given.Model = prompt, flags.backend, flags.model
	configured, err := config.Read(flags.config)
	if err != nil {
		return usage(err)
	}
	file := configured.Loop
	settings, err := loop.Resolve(given, file)
	if err != nil {
		return usage(fmt.Errorf("%w; see rehearse loop --help", err))
	}
	path := transcriptFile(flags.transcript, "loop")
	return a.runLoop(ctx, settings, flags, path, func(job cli.Job, o cli.Output) (*cli.Session, error) {
		return cli.Open(path, tool(), settings, job, o)
	})
}

// fixedFlags are the flags of loop that a continued run cannot change, because they decide what its
// earlier answers mean.
var fixedFlags = []string{
	"backend", "blocked-marker", "command", "config", "contract", "fresh-session", "history", "language", "marker", "mode",
	"no-contract", "system", "todos", "transcript",
}

// continueLoop continues the run of a transcript.
func (a *app) continueLoop(cmd *cobra.Command, given loop.Options, flags loopFlags, args []string) error {
	var fixed error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(fixedFlags, f.Name) {
			fixed = fmt.Errorf("--%s cannot be changed with --continue; begin a new run", f.Name)
		}
	})
	if fixed != nil {
		return usage(fixed)
	}
	paused, err := reopenLoop(args)
	if err != nil {
		return usage(err)
	}
	if err := a.endLeftovers(paused.Path); err != nil {
		return usage(errors.Join(err, paused.Close()))
	}
	stored, err := paused.Options()
	if err == nil {
		err = flags.restore(cmd.Flags(), paused.Job)
	}
	given.Model = flags.model
	if err == nil && flags.promptFile != "" {
		given.Prompt, err = readPromptFile(flags.promptFile)
	}
	var settings loop.Settings
	if err == nil {
		settings, err = loop.Resolve(given, stored)
	}
	if err != nil {
		return usage(errors.Join(err, paused.Close()))
	}
	err = a.runLoop(cmd.Context(), settings, flags, paused.Path, func(job cli.Job, o cli.Output) (*cli.Session, error) {
		return paused.Begin(tool(), settings, job, flags.answer, o)
	})
	_ = paused.Close() // each line is on the disk already
	return err
}

// promptReader returns a function that reads the file of --prompt-file, or nil without one.
func promptReader(name string) func() (string, error) {
	if name == "" {
		return nil
	}
	return func() (string, error) { return readPromptFile(name) }
}

// readPromptFile reads the file of --prompt-file.
func readPromptFile(name string) (string, error) {
	data, err := input.ReadFile("prompt file", name, maxPrompt)
	switch {
	case err != nil:
		return "", err
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", fmt.Errorf("read the prompt file: %s is not text in UTF-8", name)
	case len(bytes.TrimSpace(data)) == 0:
		return "", fmt.Errorf("read the prompt file: %s is empty; write what the agent is to do", name)
	}
	return string(data), nil
}

// runVariable is set for the agents of a loop to the path of its transcript.
const runVariable = "REHEARSE_LOOP"

// runMark returns the entry in the environment of the agents of a run.
func runMark(transcript string) (string, error) {
	path, err := filepath.Abs(transcript)
	if err != nil {
		return "", fmt.Errorf("find the transcript: %w", err)
	}
	return runVariable + "=" + path, nil
}

// endLeftovers ends the processes that a killed run left behind: a program such as codex consists of several,
// and the one at work can outlive the others, and holds the session.
func (a *app) endLeftovers(transcript string) error {
	mark, err := runMark(transcript)
	if err != nil {
		return err
	}
	if n := child.KillMarked(mark); n > 0 {
		fmt.Fprintf(a.stderr, "ended %s that the run had left behind\n", format.Plural(n, "program"))
	}
	return nil
}

// reopenLoop opens the named transcript, or the latest one of a folder.
func reopenLoop(args []string) (*cli.Paused, error) {
	name := runsFolder
	if len(args) > 0 {
		name = args[0]
	}
	info, err := os.Stat(name)
	switch {
	case len(args) > 0 && errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("continue a run: there is no transcript %s; "+
			"a continued run keeps its prompt, or takes it from --prompt-file", name)
	case len(args) == 0 || err == nil && info.IsDir():
		if name, err = cli.Latest(name); err != nil {
			return nil, err
		}
	}
	return cli.Reopen(name)
}

// restore takes the flags that the user did not give from an earlier process.
func (l *loopFlags) restore(f *pflag.FlagSet, job cli.Job) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	if job.Dir != here {
		return fmt.Errorf("the agent of this run works in %s; continue it there", job.Dir)
	}
	for name, restore := range map[string]func(){
		"agent-arg":   func() { l.extra = job.Args },
		"access":      func() { l.access = job.Access },
		"prices":      func() { l.prices = job.Prices },
		"todo-file":   func() { l.todoFile = job.TodoFile },
		"prompt-file": func() { l.promptFile = job.PromptFile },
		"git":         func() { l.git = job.Git },
		"rollback":    func() { l.rollback = job.Rollback },
		"sandbox":     func() { l.sandbox = job.Sandbox },

		"sandbox-write": func() { l.sandboxWrite = job.SandboxWrite },
	} {
		if !f.Changed(name) {
			restore()
		}
	}
	l.command = job.Command
	return nil
}

// job returns how a run is started, for its transcript.
func (l *loopFlags) job() (cli.Job, error) {
	here, err := os.Getwd()
	if err != nil {
		return cli.Job{}, fmt.Errorf("find the current folder: %w", err)
	}
	return cli.Job{
		Dir: here, Command: l.command, Args: l.extra, Access: l.access, Prices: l.prices,
		PromptFile: l.promptFile, TodoFile: l.todoFile,
		Git: l.git, Rollback: l.rollback, Sandbox: l.sandbox, SandboxWrite: l.sandboxWrite,
	}, nil
}

// runLoop runs the process of a run whose transcript, in the file path, open opens.
func (a *app) runLoop(ctx context.Context, settings loop.Settings, flags loopFlags, path string,
	open func(cli.Job, cli.Output) (*cli.Session, error),
) error {
	if err := flags.check(); err != nil {
		return usage(err)
	}
	flags.backend, flags.model = settings.Backend, settings.Model
	mark, err := runMark(path)
	if err != nil {
		return usage(err)
	}
	flags.env = []string{mark}
	around, err := a.encloseLoop(ctx, flags)
	if err != nil {
		return usage(err)
	}
	defer around.close()
	flags.wrapper = around.arguments()
	backend, err := a.findBackend(ctx, flags.backendFlags)
	if err != nil {
		return usage(err)
	}
	prices, err := priceTable(flags.prices)
	if err != nil {
		return usage(err)
	}
	job, err := flags.job()
	if err != nil {
		return usage(err)
	}
	output := cli.Output{Redact: redactor()}
	if flags.events {
		output.Events = a.stdout
	}
	if flags.git {
		if output.Files, err = cli.KeepFiles(ctx, job.Dir, path, flags.rollback, runsFolder); err != nil {
			return usage(err)
		}
		defer output.Files.Close()
	}
	session, err := open(job, output)
	if err != nil {
		return usage(err) // here exit code 3 is a timeout
	}
	defer func() { _ = session.Close() }() // each line is on the disk already
	deps := loop.Deps{
		Backend: backend, BackendID: backend.ID(), Conversational: backend.ID() == backendOpenAI,
		Check: cli.RunCheck(around.arguments()), Clock: clock.Real(), Price: prices.Pricer(settings.Model), EURPerUSD: prices.EURPerUSD,
		ReadPrompt: promptReader(job.PromptFile),
	}
	watch, err := a.watchFiles(ctx, flags, session)
	if err != nil {
		return usage(err)
	}
	if watch != nil {
		defer watch.Close()
		deps.Work = watch.Look
	}
	result, writing := session.Run(ctx, deps, a.view(flags.quiet))
	return a.endLoop(session, result, writing, flags)
}

// watchFiles watches what the agent changes, unless it only answers.
func (a *app) watchFiles(ctx context.Context, flags loopFlags, session *cli.Session) (*cli.Watch, error) {
	if !flags.actsOnFiles() && flags.todoFile == "" {
		return nil, nil
	}
	return cli.WatchFiles(ctx, ".", flags.todoFile, session.Path(), runsFolder)
}

// endLoop prints the result of a run and returns its exit code.
func (a *app) endLoop(session *cli.Session, result loop.Result, writing error, flags loopFlags) error {
	var printing error
	if !flags.events {
		printing = a.printResult(result, result.Text, flags.asJSON)
	}
	if printing == nil && (!flags.quiet || result.Status != loop.StatusDone) {
		session.ShowEnd(a.stderr, a.terminal(), result)
	}
	if err := errors.Join(printing, writing); err != nil {
		return &exitError{loop.StatusError.ExitCode(), err}
	}
	return quiet(result.ExitCode)
}
