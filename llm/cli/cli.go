package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
)

// Config configures a command-line agent. The zero value runs the agent's program with the defaults
// below.
type Config struct {
	// Command replaces the name of the program: a program and leading arguments. For "exec" it is
	// the whole command line, and required. There, "{prompt}" in an argument is replaced by the
	// prompt, and "{prompt_file}" by the path of a temporary file with the prompt. Without either,
	// the prompt goes to standard input.
	Command []string
	// Wrapper precedes the whole command line, such as that of a sandbox: a program and its arguments. The
	// program must run the rest and return its exit status.
	Wrapper []string
	// Dir is the working folder; default the working folder of this process.
	Dir string
	// Env has NAME=value pairs in addition to the environment of this process. Their values do not
	// appear in errors.
	Env []string
	// Closed makes Env the whole environment of the agent. It should then contain PATH and HOME.
	Closed bool
	// Model for requests without a model; default the agent's own.
	Model string
	// ExtraArgs follow the default flags.
	ExtraArgs []string
	// Access is the level of access; default Workspace, unless ExtraArgs contain permission flags
	// of the program. A level in addition to such flags, or for "exec", is an error.
	Access Access
	// PromptLimit is the largest size of a prompt, in bytes, that is passed as an argument; default
	// 7000, at most 100,000 (the limit of operating systems).
	PromptLimit int
	// MaxOutput limits the standard output of the agent, in bytes; default 64 MiB.
	MaxOutput int64
	// Grace is the time for the agent to exit, after SIGTERM and also after its final event, before
	// its process group is killed; default 5s.
	Grace time.Duration
	// OnMessage receives each whole message to the user, including the last one. It is called in
	// the goroutine that called Complete.
	OnMessage func(string)
	// Log receives a copy of the standard error of the agent.
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

// withDefaults replaces the zero fields of cfg by their defaults, and validates it.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.PromptLimit < 0 || cfg.PromptLimit > maxPromptLimit {
		return cfg, fmt.Errorf("prompt limit %d is out of range; use 0 (default) to %d bytes", cfg.PromptLimit, maxPromptLimit)
	}
	if cfg.MaxOutput < 0 || cfg.Grace < 0 {
		return cfg, fmt.Errorf("output limit %d and grace %s must not be negative", cfg.MaxOutput, cfg.Grace)
	}
	for i, pair := range cfg.Env {
		if name, _, ok := strings.Cut(pair, "="); !ok || name == "" {
			return cfg, fmt.Errorf("environment entry %d must have the form NAME=value", i+1)
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

// IDs returns the ids of all agents; the first one is the default.
func IDs() []string {
	ids := make([]string, len(agents))
	for i, a := range agents {
		ids[i] = a.id
	}
	return ids
}

// New returns the adapter for an agent. It fails for an unknown id or an invalid configuration, but does
// not check whether the program exists; see Available.
//
// Requests with Tools are an error. MaxTokens, Temperature, Seed, Purpose and Tags of requests are
// ignored.
func New(id string, cfg Config) (llm.Adapter, error) {
	for _, a := range agents {
		if a.id != id {
			continue
		}
		cfg, err := cfg.withDefaults()
		if err == nil {
			_, err = a.granted(cfg.Access, cfg.ExtraArgs)
		}
		if err != nil {
			return nil, fmt.Errorf("configure backend %q: %w", id, err)
		}
		return &adapter{agent: a, cfg: cfg}, nil
	}
	return nil, fmt.Errorf("no command-line agent %q; known: %s", id, strings.Join(IDs(), ", "))
}

// In returns a copy of a command-line agent that works in another folder with another Wrapper. It returns
// other adapters unchanged.
func In(a llm.Adapter, dir string, wrapper []string) llm.Adapter {
	b, ok := a.(*adapter)
	if !ok {
		return a
	}
	other := *b
	other.cfg.Dir, other.cfg.Wrapper = dir, wrapper
	return &other
}

// errLimit is the cause for stopping an agent at a limit of the request.
var errLimit = errors.New("the agent reached a limit of the call")

type adapter struct {
	agent agent
	cfg   Config
}

func (b *adapter) ID() string { return b.agent.id }

// program returns the command line before the flags; may be empty.
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
		return errors.New("no command is configured; configure the program to run")
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		if len(b.cfg.Command) > 0 {
			return fmt.Errorf("the configured program %q cannot be run: %w", argv[0], err)
		}
		return fmt.Errorf("%w; install it with %q, or add its folder to PATH", err, b.agent.install)
	}
	return nil
}

// Complete runs the agent once. When the context ends, it stops the process group and returns the cause
// of the context; for a deadline an *llm.Error of kind Timeout, with the partial text.
func (b *adapter) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := clock.Err(ctx); err != nil {
		return llm.Reply{}, fmt.Errorf("%s: not started: %w", b.agent.id, err)
	}
	l, cleanup, err := b.prepare(req)
	if err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.InvalidRequest, Backend: b.agent.id, Err: err}
	}
	defer cleanup()
	l.argv = slices.Concat(b.cfg.Wrapper, l.argv)
	a := &answer{
		onText: req.OnText, onMessage: b.cfg.OnMessage,
		activity: activity{
			onActivity: req.OnActivity, confined: b.confined(), observing: b.cfg.Access == ReadOnly,
			maxDenied: req.DenialLimit, maxFailed: req.FailureLimit, bounded: req.MaxTurns > 0 || req.MaxUSD > 0,
		},
		session: session{known: b.agent.resume != nil, onSession: req.OnSession, continued: req.Session},
	}
	if b.agent.turnsFlag == "" {
		a.maxTools = req.MaxTurns
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end, err := run(within, l, b.cfg, func(line []byte) bool {
		a.alive()
		b.agent.parse(a, line)
		if a.stopped != "" && !a.ended || a.gaveUp {
			cancel(errLimit)
		}
		return a.ended
	})
	if cause := clock.Err(ctx); err != nil && cause != nil {
		return llm.Reply{}, fmt.Errorf("%s: not started: %w", b.agent.id, cause)
	}
	if err != nil {
		err = fmt.Errorf("start %s: %w", l.argv[len(b.cfg.Wrapper)], err)
		return llm.Reply{}, &llm.Error{Kind: llm.Unavailable, Backend: b.agent.id, Err: err}
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
	if failure.Kind == llm.RateLimited {
		failure.ResetAt = a.limitEnd(failure.Message, clock.Real().Now())
	}
	failure.Message = hide.Replace(failure.Message)
	return llm.Reply{}, failure
}
