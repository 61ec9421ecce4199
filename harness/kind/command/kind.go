// Package command drives a program over its input and output: a process for each turn, or
// one for the whole conversation. It also starts and ends programs for other kinds of agents.
//
// A program has a process group and an environment of its own. Everything that it started
// ends with it; on Linux also processes that left the group.
package command

import (
	"strings"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/internal/jsonpath"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Options are the keys under drive.command.
type Options struct {
	Launch         `yaml:",inline"`
	scenarios.Talk `yaml:",inline"`
	// Input is how a turn reaches the program: "stdin" (default), "argument" (in place of
	// {turn} in Run, or at its end) or "file" (a file outside the workspace, whose path
	// replaces {file} in Run, or is appended).
	Input string `yaml:"input,omitempty" json:"input,omitempty" jsonschema:"enum=stdin,enum=argument,enum=file"`
	// Lives is the lifetime of a process: a "turn" (default), or
	// the whole "session", in which a turn is one line of its standard input and the
	// answer one line of its output (or, where Output is "jsonl", the lines up to the
	// one that has an answer).
	Lives string `yaml:"lives,omitempty" json:"lives,omitempty" jsonschema:"enum=turn,enum=session"`
	// Output is the format that the program prints: "text" (default), "json" or "jsonl".
	Output string `yaml:"output,omitempty" json:"output,omitempty" jsonschema:"enum=text,enum=json,enum=jsonl"`
	// Answer is the JSON path (RFC 9535) of the answer, such as $.result; with jsonl, the
	// last line that has it counts.
	Answer string `yaml:"answer,omitempty" json:"answer,omitempty"`
	// Network is "own" (default), a network of the trial with only the scripted backend and
	// the servers that the program starts, if the system allows that; or "shared", this
	// machine's, for a program that needs another server.
	Network string `yaml:"network,omitempty" json:"network,omitempty" jsonschema:"enum=own,enum=shared"`
}

// SharedNetwork is the value of a network that is not the trial's own.
const SharedNetwork = "shared"

// lives reports whether one process serves the whole session.
func (o *Options) lives() bool { return o.Lives == livesSession }

// structured reports whether the output is JSON.
func (o *Options) structured() bool { return o.Output == outputJSON || o.Output == outputJSONL }

// Kind returns the kind "command".
func Kind() kind.Kind {
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "command", Title: "a command", Statuses: scenarios.AppStatuses(), External: true, MCP: []string{mcp.HTTP, mcp.Stdio},
			Options: func() any { return new(Options) },
			Check:   func(c *scenarios.Checker, opts any) { opts.(*Options).check(c) },
			CheckTurn: func(opts any, p perturb.Perturbation) error {
				o := opts.(*Options)
				return o.CheckRestart(p, o.lives())
			},
			Relocate: func(opts any, back string) map[string]any { return opts.(*Options).Relocate(back) },
		},
		Invariants: kind.ExternalInvariants(),
		Extensions: kind.UserExtensions(),
		New:        newDriver,
	}
}

func newDriver(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
	o := sc.Drive.Options.(*Options)
	resolved := *o
	var err error
	if resolved.Launch, err = o.Resolve(&sc, env); err != nil {
		return nil, err
	}
	agent, err := New(resolved)
	if err != nil {
		return nil, err
	}
	return drive.NewConversation(sc, env, drive.Conversation{
		Talk: o.Talk, Agent: agent, OwnNetwork: o.Network != SharedNetwork, Restarts: o.lives(), Hint: o.Hint(&sc, o.Files),
	})
}

// check reports problems of the options.
func (o *Options) check(c *scenarios.Checker) {
	for _, name := range o.Sources() {
		c.Program(name)
	}
	const at = "drive.command"
	if len(o.Run) == 0 || o.Run[0] == "" {
		c.Add(at+".run", "", "no program; set run to [program, argument]")
	}
	switch {
	case o.structured() && o.Answer == "":
		c.Add(at+".output", "", "output: %s needs the JSON path of the answer, such as answer: $.result", o.Output)
	case !o.structured() && o.Answer != "":
		c.Add(at+".answer", "", "answer is a JSON path, and the output is text; set output to json or jsonl, or remove answer")
	case o.structured():
		if _, err := jsonpath.Parse(o.Answer); err != nil {
			c.Add(at+".answer", "", "%v", err)
		}
	}
	if o.lives() {
		o.checkSession(c, at)
	}
	o.Check(c, at)
}

// checkSession reports problems of a process that serves a whole session, where a turn is a
// line of its standard input.
func (o *Options) checkSession(c *scenarios.Checker, at string) {
	if o.Input != "" && o.Input != inputStdin {
		c.Add(at+".input", "", "a process with lives: session reads its turns from standard input, so input cannot be %s", o.Input)
	}
	for path, turn := range o.Texts() {
		if strings.ContainsAny(turn, "\r\n") {
			c.Add(at+"."+path, "",
				"a process with lives: session reads each turn as one line, and this turn has several; "+
					"shorten it to one line, or set lives: turn")
		}
	}
}
