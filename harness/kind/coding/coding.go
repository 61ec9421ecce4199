// Package coding drives the programs of real coding agents, such as Claude Code and Codex,
// against the scripted backend, in a temporary workspace, with tools and with the stop
// guard as their hook. docs/how-to/coding-agents.md describes how each is started.
package coding

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
)

// Config configures the agent of a program.
type Config struct {
	// Agent is the name of the program: "claude", "codex", "copilot", "gemini", "opencode" or "qwen".
	Agent string
	// Model is the model that the program uses. Its name decides which tools the program
	// offers.
	Model string
	// Retries is the maximal number of retries of a failed call; nil means the program's
	// default.
	Retries *int
	// ToolTimeout limits a call of a tool of an MCP server; 0 means the program's default.
	ToolTimeout time.Duration
	// Guard installs the stop guard with this policy as the program's hook; empty: none.
	Guard stop.Policy
	// Executable is the program to start as that hook; it calls agents/stop/hook.Main first.
	// Empty means this program.
	Executable string
	// Through is "shell" if each turn is a command line of a shell in which rehearse and the
	// agent's program are found; empty if it is a prompt for the agent.
	Through string
	// Required makes it an error of kind Unusable, not Absent, if the program is not on
	// this machine.
	Required bool
}

// product has the functions that are specific to one program.
type product struct {
	// prepare writes the agent's home and returns how to start the program.
	prepare func(cfg Config, site app.Site) (launch, error)
	// normalize removes the program's own text from a message, for recordings; false drops the
	// message.
	normalize func(m llm.Message) (llm.Message, bool)
	// model precedes the name of a model on the command line.
	model string
}

// launch describes how to start a program.
type launch struct{ args, env []string }

var products = map[string]product{
	"claude":   {prepare: prepareClaude, normalize: normalizeClaude},
	"codex":    {prepare: prepareCodex, normalize: normalizeCodex},
	"copilot":  {prepare: prepareCopilot, normalize: normalizeCopilot},
	"gemini":   {prepare: prepareGemini, normalize: normalizeGemini},
	"opencode": {prepare: prepareOpencode, normalize: keepMessage, model: opencodeProvider},
	"qwen":     {prepare: prepareQwen, normalize: normalizeQwen},
}

// New returns the agent. Start finds its program with programs.
func New(cfg Config, programs *Programs) (*Agent, error) {
	p, ok := products[cfg.Agent]
	if !ok {
		return nil, fmt.Errorf("unknown coding agent %q; known: %s", cfg.Agent, strings.Join(slices.Sorted(maps.Keys(products)), ", "))
	}
	if cfg.Retries != nil && *cfg.Retries < 0 {
		return nil, fmt.Errorf("the number of retries must be at least 0, got %d", *cfg.Retries)
	}
	if cfg.Through != "" && cfg.Through != throughShell {
		return nil, fmt.Errorf("an agent cannot be driven through %q; use %q, or nothing for the agent itself", cfg.Through, throughShell)
	}
	return &Agent{cfg: cfg, product: p, programs: programs}, nil
}

// Agent drives a coding agent's program. It implements app.Agent.
type Agent struct {
	cfg      Config
	product  product
	programs *Programs
}

// Start implements app.Agent. It finds the program and prepares its home; the program itself
// runs for one turn.
func (a *Agent) Start(ctx context.Context, site app.Site) (app.Session, error) {
	leave, err := a.programs.enter(ctx)
	if err != nil {
		return nil, err
	}
	s, err := a.start(ctx, site, leave)
	if missing, ok := errors.AsType[*app.Error](err); ok && a.cfg.Required && missing.Kind == app.Absent {
		missing.Kind = app.Unusable
	}
	if err != nil {
		leave()
		return nil, err
	}
	return s, nil
}

func (a *Agent) start(ctx context.Context, site app.Site, leave func()) (app.Session, error) {
	program, err := a.programs.find(ctx, a.cfg.Agent)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(command.Temp(site), 0o700); err != nil {
		return nil, app.Errorf(app.Unusable, "make a folder for the temporary files of %s: %w", a.cfg.Agent, err)
	}
	command.Adopt()
	started, err := a.product.prepare(a.cfg, site)
	if err != nil {
		return nil, app.Errorf(app.Unusable, "prepare the home of %s: %w", a.cfg.Agent, err)
	}
	s := &session{agent: a, site: site, leave: leave}
	s.cli = cli.Config{
		Command:   []string{program.path},
		Dir:       site.Folder,
		Env:       command.Environ(site, append(started.env, "LANG=C.UTF-8", "TZ=UTC")),
		Closed:    true,
		ExtraArgs: started.args,
		OnMessage: func(text string) { s.messages = append(s.messages, text) },
	}
	if site.Log != nil {
		s.cli.Log = &logNormalizer{to: site.Log}
	}
	if a.cfg.Guard != "" {
		guarded, err := a.install(site)
		if err != nil {
			return nil, app.Errorf(app.Unusable, "install the stop guard as the hook of %s: %w", a.cfg.Agent, err)
		}
		s.guard = guarded
		s.cli.Env = append(s.cli.Env, guarded.env...)
	}
	if site.Emit != nil {
		site.Emit(event.New(0, a.cfg.Agent+" "+program.version, programStarted{Agent: a.cfg.Agent, Version: program.version}))
	}
	if a.cfg.Through == "" {
		return s, nil
	}
	return a.startShell(s, started, program)
}

// startShell returns the conversation through a shell in the site of s.
func (a *Agent) startShell(s *session, started launch, agent program) (app.Session, error) {
	rehearse, err := a.programs.commandLine()
	if err != nil {
		return nil, err
	}
	if s.guard != nil {
		started.env = append(started.env, s.guard.env...)
	}
	through, err := newShell(s, started, agent, rehearse)
	if err != nil {
		return nil, app.Errorf(app.Unusable, "prepare the shell of %s: %w", a.cfg.Agent, err)
	}
	return through, nil
}

// session is a conversation. Each turn is a process of its own, which continues the session.
type session struct {
	agent    *Agent
	site     app.Site
	cli      cli.Config
	id       string   // of the program's session; empty until it began
	guard    *guarded // nil without one
	messages []string // of the agent in this turn
	left     []string // processes that outlived a turn
	leave    func()   // allows another session to begin
}

// Say implements app.Session.
func (s *session) Say(ctx context.Context, text string) (app.Answer, error) {
	backend, err := cli.New(s.agent.cfg.Agent, s.cli)
	if err != nil {
		return app.Answer{}, app.Errorf(app.Unusable, "continue the session: %w", err)
	}
	s.messages = nil
	req := llm.Request{
		Model: s.agent.product.model + s.agent.cfg.Model, Messages: []llm.Message{{Role: llm.User, Content: text}},
		OnSession: func(id string) { s.id = id },
	}
	if s.id != "" {
		req.Session = &llm.Session{ID: s.id}
	}
	reply, err := backend.Complete(ctx, req)
	s.sweep(err == nil)
	if stopErr := s.emitStops(text); stopErr != nil && err == nil {
		return app.Answer{}, app.Errorf(app.Unusable, "see what the stop guard did: %w", stopErr)
	}
	if err != nil {
		return app.Answer{}, s.failure(err)
	}
	answer := app.Answer{Text: reply.Text, Attrs: map[string]any{"messages": len(s.messages)}}
	if len(reply.Retries) > 0 {
		answer.Attrs["retries"] = len(reply.Retries)
	}
	if len(reply.Denials) > 0 {
		answer.Denied = llm.DescribeDenials(reply.Denials)
	}
	return answer, nil
}

// programStarted is the event of the program of a conversation.
type programStarted struct {
	Agent   string `json:"agent"`
	Version string `json:"version"`
}

// Event implements event.Payload.
func (programStarted) Event() (event.Kind, string) { return event.State, "program" }

// failure converts an error of the adapter to an *app.Error.
func (s *session) failure(err error) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return err // the context's end
	}
	message := newNormalizer(s.site).names.Replace(s.agent.cfg.Agent + ": " + e.Message)
	kind := app.Failed
	switch {
	case errors.Is(err, cli.ErrFlood):
		kind = app.Flooded
	case errors.Is(err, cli.ErrKilled):
		kind = app.Crashed
	case e.Kind == llm.Timeout:
		kind = app.TimedOut
	case s.id == "":
		kind = app.Unusable
		message += " (it ended before its session began; run it by hand with the same arguments)"
	default:
		message += " (" + string(e.Kind) + ")"
	}
	return &app.Error{Kind: kind, Message: message, Err: err}
}

// orphanTimeout limits how long a descendant may outlive the program.
const orphanTimeout = 250 * time.Millisecond

// sweep ends the processes that outlived the program: both programs run commands in sessions
// of their own, outside the program's process group.
func (s *session) sweep(finished bool) {
	if !finished {
		command.Orphans(s.site.Clock, s.site.Home, 0)
		return
	}
	s.left = append(s.left, command.Orphans(s.site.Clock, s.site.Home, orphanTimeout)...)
}

// End implements app.Session. The error names processes that outlived a turn.
func (s *session) End(context.Context) error {
	s.leave()
	if len(s.left) == 0 {
		return nil
	}
	return app.Errorf(app.Unusable,
		"%s ended a turn and left processes behind, which were killed: %s; "+
			"let the commands of the script wait for what they start",
		s.agent.cfg.Agent, strings.Join(s.left, ", "))
}
