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

// The values of Options.
const (
	inputStdin    = "stdin"
	inputArgument = "argument"
	inputFile     = "file"
	outputJSON    = "json"
	outputJSONL   = "jsonl"
	livesSession  = "session"
)

// The placeholders in a program's arguments.
const (
	turnHere = "{turn}"
	fileHere = "{file}"
)

// New returns the agent of a program. Placeholders for folders in Run and Env are not replaced.
func New(o Options) (app.Agent, error) {
	o.Input = cmp.Or(o.Input, inputStdin)
	a := &agent{opts: o, env: o.Environ()}
	switch {
	case len(o.Run) == 0:
		return nil, errors.New("no program to run")
	case o.lives() && o.Input != inputStdin:
		return nil, fmt.Errorf("a process that serves the whole session reads its turns from standard input, not as %s", o.Input)
	}
	if o.structured() {
		path, err := jsonpath.Parse(o.Answer)
		if err != nil {
			return nil, fmt.Errorf("find the answer: %w", err)
		}
		a.path = path
	}
	return a, nil
}

type agent struct {
	opts Options
	env  []string
	path jsonpath.Path
}

// Start implements app.Agent.
func (a *agent) Start(_ context.Context, site app.Site) (app.Session, error) {
	if a.opts.lives() {
		return a.begin(site)
	}
	if _, err := lookup(a.opts.Run[0]); err != nil {
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

// End implements app.Session. No process runs between turns.
func (s *perTurn) End(context.Context) error { return nil }

// program returns the program to run for a turn, and its standard input.
func (s *perTurn) program(text string) (p Program, stdin string, err error) {
	p = Program{Argv: s.opts.Run, Env: append(slices.Clone(s.env), turnVariable+strconv.Itoa(s.n))}
	switch s.opts.Input {
	case inputStdin:
		return p, text, nil
	case inputArgument:
		p.Argv = fill(s.opts.Run, turnHere, text)
	case inputFile:
		name := filepath.Join(s.site.Home, "turn-"+strconv.Itoa(s.n)+".txt")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return p, "", fmt.Errorf("write the file of turn %d: %w", s.n, err)
		}
		p.Argv = fill(s.opts.Run, fileHere, name)
	}
	return p, "", nil
}

// turnVariable is the variable with the number of the turn, from 1, for a program that stores the
// earlier turns in its home.
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
