package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// The exit codes of every command but loop, react and supervise, which have their
// own (see their --help).
const (
	exitPass        = 0
	exitFail        = 1
	exitUsage       = 2
	exitNoVerdict   = 3
	exitInterrupted = 130
)

const exitCodes = `Exit codes:
  0    every scenario passed
  1    a scenario failed, or a recording was changed
  2    usage or configuration: nothing was run
  3    no verdict: a scenario has an error, even if others failed (the summary counts both), a budget
       was used up, or a recording breaks off
  130  interrupted; what was done so far is reported`

// app is shared by the commands.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	args           []string // without the name of the program
	kinds          kind.List
	language       *gate.Language // in which agents are measured and judged
}

// run runs the program and returns its exit code.
func run(kinds kind.List, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv, args: args, kinds: kinds, language: kinds.Language()}
	if a.getenv("GITHUB_ACTIONS") == "true" {
		a.stdout, a.stderr = console.WithoutRunnerCommands(stdout), console.WithoutRunnerCommands(stderr)
	}
	ctx, stop := console.Interruptible(time.Now, a.leave)
	defer stop()

	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitPass
	}
	if asHook(args) { // to hosts, 2 is a refusal
		hook.Decline(err, stdout, stderr)
		return exitPass
	}
	exit, ok := errors.AsType[*exitError](err)
	if !ok { // cobra's own, such as flags that exclude each other
		exit = &exitError{exitUsage, fmt.Errorf("%w; see %s --help", plainFlagError(err), cmd.CommandPath())}
	}
	if exit.err != nil {
		a.explain(exit.err)
	}
	return exit.code
}

// leave ends the program, with the agents and commands that were asked to end.
func (a *app) leave() {
	child.KillAsked()
	fmt.Fprintln(a.stderr, "\nrehearse: ended at once; work in progress was cut off")
	os.Exit(exitInterrupted)
}

// explain prints an error. Diagnostics are printed with their source.
func (a *app) explain(err error) {
	if diagnostics, ok := errors.AsType[scenarios.Diagnostics](err); ok {
		fmt.Fprint(a.stderr, diagnostics.Render())
		return
	}
	fmt.Fprintln(a.stderr, "rehearse:", err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "rehearse",
		Short: "Rehearse an LLM agent before it meets a paid model",
		Long: `rehearse drives a whole LLM agent against scripted backends, on the happy path and
under every failure mode, and reports what it did, what it cost and whether it met
your expectations. It works offline.`,
		Example: `  rehearse run 'loop/*'           drive the shipped scenarios of the runner loop
  rehearse init                   write a first scenario of your own
  rehearse react --example ` + firstExample() + `
                                  watch an agent think, act, observe and reflect
  rehearse run scenarios          drive the scenarios in a folder
  rehearse mock script.yaml       serve a script to an agent in any language`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       toolVersion(),
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	a.colorFlag(root)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(badFlag)
	root.AddCommand(
		environmentTopic(),
		a.runCommand(),
		a.listCommand(),
		a.checkCommand(),
		a.exploreCommand(),
		a.experimentCommand(),
		a.tuneCommand(),
		a.judgeCommand(),
		a.mergeCommand(),
		a.workerCommand(),
		a.queueCommand(),
		a.reportCommand(),
		a.compareCommand(),
		a.historyCommand(),
		a.viewCommand(),
		a.blessCommand(),
		a.mockCommand(),
		a.mcpCommand(),
		a.captureCommand(),
		a.importCommand(),
		a.driftCommand(),
		a.loopCommand(),
		a.reactCommand(),
		a.superviseCommand(),
		a.detectCommand(),
		a.guardCommand(),
		a.interviewCommand(),
		a.auditCommand(),
		a.schemaCommand(),
		a.initCommand(),
		a.versionCommand(),
	)
	root.SetHelpCommand(helpCommand())
	finishCompletion(root)
	wrapHelp(root)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages |", fmt.Sprintf("FlagUsagesWrapped %d |", helpWidth)))
	return root
}

// helpCommand is cobra's, but it refuses a word that is not a command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Explain a command",
		Example: "  rehearse help run",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usage(err)
			}
			if err := unknownCommand(about, rest); err != nil {
				return err
			}
			return about.Help()
		},
	}
}
