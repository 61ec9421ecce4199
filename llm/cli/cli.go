package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
)

// Config configures a command-line agent. The zero value runs the agent's own program
// with the defaults below.
type Config struct {
	// Command replaces the program's name: a program and leading arguments. For
	// "exec" it is the whole command line, and required; there "{prompt}" within
	// an argument stands for the prompt and "{prompt_file}" for the path of a
	// temporary file that holds it. With neither, the prompt goes to standard
	// input.
	Command []string
	// Dir is the working folder; default: that of this process.
	Dir string
	// Env holds NAME=value pairs on top of this process's environment. Their
	// values do not appear in errors.
	Env []string
	// Closed gives the agent Env alone and nothing of this process's environment. It
	// then needs what any program does: PATH, HOME.
	Closed bool
	// Model is used where a request names none; default: the agent's own.
	Model string
	// ExtraArgs are put after the default flags.
	ExtraArgs []string
	// Access is what the agent may do without asking; default: Workspace, unless
	// ExtraArgs hold permission flags of the program, which then decide alone. A
	// level that is given beside such flags is refused, and so is one for "exec".
	Access Access
	// PromptLimit is the longest prompt, in bytes, that is passed as an argument;
	// default 7000, at most 100,000 (operating systems refuse longer ones).
	PromptLimit int
	// MaxOutput is how many bytes the agent may write to standard output before
	// it is stopped; default 64 MiB.
	MaxOutput int64
	// Grace is how long the agent may take to end, after SIGTERM and again after
	// its final event, before its process group is killed; default 5s.
	Grace time.Duration
	// Session continues the session with that id, which OnSession received before;
	// empty starts a new one. Only claude and codex can. Codex then reports what the
	// whole session has used, claude what this call has.
	Session string
	// OnSession receives the id of the agent's session as soon as the agent reports it, and
	// OnMessage each whole message to the user, the last one included. They are called
	// by the goroutine that called Complete.
	OnSession, OnMessage func(string)
	// Log gets a copy of what the agent writes to standard error.
	Log io.Writer
}

const (
	defaultPromptLimit = 7000
	maxPromptLimit     = 100_000
	defaultMaxOutput   = 64 << 20
	defaultGrace       = 5 * time.Second
	// maxLine is the longest event that is read; agents put whole command outputs
	// into one line.
	maxLine = 10 << 20
)

// withDefaults returns cfg with every zero field replaced, or what is wrong.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.PromptLimit < 0 || cfg.PromptLimit > maxPromptLimit {
		return cfg, fmt.Errorf("prompt limit %d is out of range; use 0 (default) to %d bytes", cfg.PromptLimit, maxPromptLimit)
	}
	if cfg.MaxOutput < 0 || cfg.Grace < 0 {
		return cfg, fmt.Errorf("output limit %d and grace %s must not be negative", cfg.MaxOutput, cfg.Grace)
	}
	for i, pair := range cfg.Env {
		if name, _, ok := strings.Cut(pair, "="); !ok || name == "" {
			return cfg, fmt.Errorf("environment entry %d is not of the form NAME=value", i+1)
		}
	}
	if cfg.PromptLimit == 0 {
		cfg.PromptLimit = defaultPromptLimit
	}
	if cfg.MaxOutput == 0 {
		cfg.MaxOutput = defaultMaxOutput
	}
	if cfg.Grace == 0 {
		cfg.Grace = defaultGrace
	}
	return cfg, nil
}

// IDs lists the agents that New knows; the first one is the default.
func IDs() []string {
	ids := make([]string, len(agents))
	for i, a := range agents {
		ids[i] = a.id
	}
	return ids
}

// New returns the adapter for the agent with that id. It fails for an unknown id
// or an impossible configuration; whether the program is there is for Available
// to say.
//
// Of a request, Tools cannot be honoured and are an error; MaxTokens,
// Temperature, Seed, Purpose and Tags have no counterpart and are ignored.
func New(id string, cfg Config) (llm.Adapter, error) {
	for _, a := range agents {
		if a.id != id {
			continue
		}
		cfg, err := cfg.withDefaults()
		if err == nil {
			_, err = a.granted(cfg.Access, cfg.ExtraArgs)
		}
		if err == nil && cfg.Session != "" {
			err = a.continues(cfg.Session)
		}
		if err != nil {
			return nil, fmt.Errorf("configure backend %q: %w", id, err)
		}
		return &adapter{agent: a, cfg: cfg}, nil
	}
	return nil, fmt.Errorf("no command-line agent %q; known: %s", id, strings.Join(IDs(), ", "))
}

type adapter struct {
	agent agent
	cfg   Config
}

func (b *adapter) ID() string { return b.agent.id }

// program is the command line before any flag; empty if none is configured.
func (b *adapter) program() []string {
	if len(b.cfg.Command) > 0 {
		return b.cfg.Command
	}
	if b.agent.program == "" {
		return nil
	}
	return []string{b.agent.program}
}

// Available looks for the program without starting it.
func (b *adapter) Available(context.Context) error {
	argv := b.program()
	if len(argv) == 0 {
		return errors.New("no command is configured; say which program to run")
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		if len(b.cfg.Command) > 0 {
			return fmt.Errorf("the configured program %q cannot be run: %w", argv[0], err)
		}
		return fmt.Errorf("%w; install it with %q, or configure where it is", err, b.agent.install)
	}
	return nil
}

// Complete runs the agent once. When the context ends, the process group is
// stopped and the error is the context's cause; for a deadline it is an
// *llm.Error of kind Timeout around it, with the text that had arrived.
func (b *adapter) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := clock.Err(ctx); err != nil {
		return llm.Reply{}, fmt.Errorf("%s: not started: %w", b.agent.id, err)
	}
	l, cleanup, err := b.prepare(req)
	if err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.InvalidRequest, Backend: b.agent.id, Err: err}
	}
	defer cleanup()
	a := &answer{
		onText: req.OnText, onSession: b.cfg.OnSession, onMessage: b.cfg.OnMessage,
		activity: activity{onActivity: req.OnActivity, confined: b.confined()},
	}
	end, err := run(ctx, l, b.cfg, func(line []byte) bool {
		a.alive()
		b.agent.parse(a, line)
		return a.ended
	})
	if cause := clock.Err(ctx); err != nil && cause != nil {
		return llm.Reply{}, fmt.Errorf("%s: not started: %w", b.agent.id, cause)
	}
	if err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.Unavailable, Backend: b.agent.id, Err: fmt.Errorf("start %s: %w", l.argv[0], err)}
	}
	hide := redact.HideSecrets(l.env)
	if b.agent.complaints != nil {
		b.agent.complaints(a, end.stderr)
	}
	reply, failure := judge(b.agent, a, end)
	switch {
	case failure == nil:
		for i, d := range reply.Denials {
			reply.Denials[i].Detail = hide.Replace(d.Detail)
		}
		return reply, nil
	case failure.Kind == "":
		return llm.Reply{}, fmt.Errorf("%s: stopped: %w", b.agent.id, failure.Err)
	}
	failure.Message = hide.Replace(failure.Message)
	return llm.Reply{}, failure
}
