package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// The exit codes of every command but loop, which has its own (loop --help).
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
  3    no verdict: the harness could not tell
  130  interrupted; what was done so far is reported`

// exitError ends the program with a code. A nil err means that everything that
// is to be said has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the user's to mend.
func usage(err error) error { return &exitError{exitUsage, err} }

// noVerdict marks an error that kept the harness from telling.
func noVerdict(err error) error { return &exitError{exitNoVerdict, err} }

// quiet ends with a code and no further word.
func quiet(code int) error {
	if code == exitPass {
		return nil
	}
	return &exitError{code, nil}
}

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}

// run is the whole program: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks for an orderly end, the second one ends at once.
	context.AfterFunc(ctx, stop)

	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitPass
	}
	exit, ok := errors.AsType[*exitError](err)
	if !ok { // cobra's own: an unknown command or flag, a wrong number of arguments
		exit = &exitError{exitUsage, err}
	}
	if exit.err != nil {
		a.explain(exit.err)
	}
	return exit.code
}

// explain prints an error. Diagnostics print themselves, with the source.
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
		Long: `rehearse drives a whole LLM agent against scripted backends, along golden paths and
every way off them, and tells what it did, what it cost, and whether that is what
was expected. It works offline.`,
		Example: `  rehearse run 'loop/*'           drive the shipped scenarios of the runner loop
  rehearse init                   write a first scenario of your own
  rehearse run scenarios          drive those in a folder
  rehearse report rehearse-runs/latest`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
	})
	root.AddCommand(
		a.runCommand(),
		a.checkCommand(),
		a.reportCommand(),
		a.mockCommand(),
		a.loopCommand(),
		a.schemaCommand(),
		a.initCommand(),
		a.versionCommand(),
	)
	return root
}
