// Package demo is a small agent that does not depend on the harness and is driven like any
// other program: it reads a turn of the user, calls a model at the address in its
// environment, runs the tool calls of the model, and prints the answer. It can also
// misbehave in the ways that agents do.
//
// Main, called at the start of main or TestMain, turns a program into the agent if an
// environment variable requests it. test/demo/agent does nothing else; tests restart their own
// binary as the agent.
package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// Variable is the environment variable that makes Main an agent. Its value is "command",
// or "http" for an HTTP application that listens on the port in PORT
// (and the address in HOST; default 127.0.0.1).
const Variable = "REHEARSE_DEMO"

// Main turns this process into the agent if it was started as one; it then does not return.
// Otherwise it does nothing.
func Main() {
	form := os.Getenv(Variable)
	if form != "command" && form != "http" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, form, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err == nil {
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "demo agent:", err)
	status := 1
	if e, ok := errors.AsType[*exitError](err); ok {
		status = e.status
	}
	os.Exit(status)
}

// Program is the name of the agent in scenarios, which start it from PATH.
const Program = "rehearse-demo"

// InPath lets scenarios in tests start this program, which calls Main, as the agent: it adds a
// folder with a link named Program to PATH. remove removes the folder.
func InPath() (remove func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", Program+"-")
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		os.Symlink(self, filepath.Join(folder, Program)),
		os.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH")))
	return func() { _ = os.RemoveAll(folder) }, err
}

// exitError is an error that ends the agent with an exit status.
type exitError struct {
	status int
	error
}

// options are the agent's command line.
type options struct {
	file    string
	argue   bool
	session bool
	output  string
	api     string
	do      string
}

func run(ctx context.Context, form string, args []string, stdin io.Reader, stdout io.Writer) error {
	var o options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.StringVar(&o.file, "file", "", "read the turn from this file")
	flags.BoolVar(&o.argue, "argument", false, "the turn is the argument behind the flags")
	flags.BoolVar(&o.session, "session", false, "each line of standard input is a turn")
	flags.StringVar(&o.output, "output", "text", "text, json or jsonl")
	flags.StringVar(&o.api, "api", "openai", "whose API is called: openai or anthropic")
	flags.StringVar(&o.do, "do", "", "misbehave: see misbehave")
	if err := flags.Parse(args); err != nil {
		return &exitError{2, err}
	}
	if form == "http" {
		return o.serve(ctx)
	}
	a := &assistant{options: o, model: newModel(o.api), out: json.NewEncoder(stdout), stdout: stdout}
	if o.session {
		return a.converse(ctx, stdin)
	}
	text, err := o.turn(flags.Arg(0), stdin)
	if err != nil {
		return err
	}
	if err := a.load(); err != nil {
		return err
	}
	if err := a.answer(ctx, text); err != nil {
		return err
	}
	return a.save()
}

// turn returns the text of the user's turn.
func (o *options) turn(argument string, stdin io.Reader) (string, error) {
	if o.argue {
		return argument, nil
	}
	read := func() ([]byte, error) { return io.ReadAll(stdin) }
	if o.file != "" {
		read = func() ([]byte, error) { return os.ReadFile(o.file) }
	}
	data, err := read()
	return strings.TrimSpace(string(data)), err
}

// converse answers each line of the input.
func (a *assistant) converse(ctx context.Context, stdin io.Reader) error {
	in := bufio.NewScanner(stdin)
	for in.Scan() {
		if err := a.answer(ctx, in.Text()); err != nil {
			return err
		}
	}
	return in.Err()
}
