// Package command drives a program over its input and output: a process for each turn, or
// one for the whole conversation. It also starts and ends programs for packages that use
// them in other ways.
//
// A program gets a process group and an environment of its own. What it started ends with
// it; on Linux also processes that left the group.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/jsonpath"
)

// The ways in which a turn reaches a program.
const (
	Stdin    = "stdin"
	Argument = "argument"
	File     = "file"
)

// The forms of what a program prints.
const (
	Text  = "text"
	JSON  = "json"
	JSONL = "jsonl"
)

// For how long a process lives.
const (
	Turn    = "turn"
	Session = "session"
)

// The placeholders in a program's arguments.
const (
	turnHere = "{turn}"
	fileHere = "{file}"
)

// Config describes how to drive a program. Run is required.
type Config struct {
	// Run is the program and its arguments. With Input Argument, {turn} in an argument
	// stands for the turn, and with Input File {file} for the file that holds it; where
	// no argument has it, it is added as the last one.
	Run []string
	// Env has NAME=value pairs on top of those of Environ.
	Env []string
	// Input is Stdin (default), Argument or File.
	Input string
	// Lives is Turn (default) or Session, which goes with Input Stdin: a turn is a line
	// of its input then, and the answer a line of its output or, with JSONL, the lines
	// up to the one that has the answer.
	Lives string
	// Output is Text (default), JSON or JSONL.
	Output string
	// Answer is the JSON path of the answer, which JSON and JSONL require.
	Answer string
	// MaxOutput limits the bytes that the program may print in one turn; default 4 MiB.
	MaxOutput int
}

// New returns the agent.
func New(cfg Config) (app.Agent, error) {
	a := &agent{cfg: cfg}
	switch {
	case len(cfg.Run) == 0:
		return nil, errors.New("there is no program to run")
	case cfg.Lives == Session && cmp.Or(cfg.Input, Stdin) != Stdin:
		return nil, fmt.Errorf("a process that lives for the session reads its turns from standard input, not as %s", cfg.Input)
	}
	a.cfg.Input = cmp.Or(cfg.Input, Stdin)
	a.cfg.MaxOutput = cmp.Or(cfg.MaxOutput, maxOutput)
	if cfg.Output == JSON || cfg.Output == JSONL {
		path, err := jsonpath.Parse(cfg.Answer)
		if err != nil {
			return nil, fmt.Errorf("find the answer: %w", err)
		}
		a.path = path
	}
	return a, nil
}

type agent struct {
	cfg  Config
	path jsonpath.Path
}

// Start implements app.Agent.
func (a *agent) Start(_ context.Context, site app.Site) (app.Session, error) {
	if a.cfg.Lives == Session {
		return a.begin(site)
	}
	if _, err := lookup(a.cfg.Run[0]); err != nil {
		return nil, err
	}
	return &perTurn{agent: a, site: site}, nil
}

// perTurn is a conversation in which each turn has a process of its own.
type perTurn struct {
	*agent
	site app.Site
	n    int
}

// Say implements app.Session.
func (s *perTurn) Say(ctx context.Context, text string) (app.Answer, error) {
	s.n++
	program, stdin, err := s.program(text)
	if err != nil {
		return app.Answer{}, err
	}
	out, err := Run(ctx, s.site, program, stdin)
	if err != nil {
		return app.Answer{}, err
	}
	return s.read(out)
}

// End implements app.Session: nothing lives between turns.
func (s *perTurn) End(context.Context) error { return nil }

// program returns the program to run for a turn, and its standard input.
func (s *perTurn) program(text string) (p Program, stdin string, err error) {
	p = Program{Argv: s.cfg.Run, Env: append(slices.Clone(s.cfg.Env), turnVariable+strconv.Itoa(s.n)), MaxOutput: s.cfg.MaxOutput}
	switch s.cfg.Input {
	case Stdin:
		return p, text, nil
	case Argument:
		p.Argv = fill(s.cfg.Run, turnHere, text)
	case File:
		name := filepath.Join(s.site.Home, "turn-"+strconv.Itoa(s.n)+".txt")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return p, "", fmt.Errorf("write the file of turn %d: %w", s.n, err)
		}
		p.Argv = fill(s.cfg.Run, fileHere, name)
	}
	return p, "", nil
}

// turnVariable has the number of the turn, from 1: a program may store the earlier turns
// in its home.
const turnVariable = "REHEARSE_TURN="

// fill replaces a placeholder by a value, or appends the value as the last argument.
func fill(argv []string, here, value string) []string {
	filled, found := slices.Clone(argv), false
	for i := 1; i < len(filled); i++ {
		found = found || strings.Contains(filled[i], here)
		filled[i] = strings.ReplaceAll(filled[i], here, value)
	}
	if !found {
		filled = append(filled, value)
	}
	return filled
}
