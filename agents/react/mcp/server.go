// Package mcp offers the tools of MCP servers as actions of a ReAct agent. A tool is the action
// "server.tool", behind the same approval as shell. It is the only package that links the SDK.
//
// A server is a program, or an address with streamable HTTP. A program is started in the workspace, in its own
// process group, with an environment without keys except for the named variables. Unless it is started in a
// sandbox, it has all other rights of the user. The output of a server is untrusted: names, descriptions,
// schemas and results are limited and sanitized.
//
// A server that ends, hangs or sends too much makes its actions fail with a named rule; it does not end the
// run. The next call of one of its tools starts or connects it again, at most three times in a run, with
// increasing delays. The failed call is not repeated, because the server may have carried it out. If the tools
// of a server change, the next observation reports that.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The limits of a server.
const (
	startTimeout   = 30 * time.Second       // for the program, the handshake and the list of tools
	defaultTimeout = time.Minute            // of a call
	grace          = 2 * time.Second        // between SIGTERM and SIGKILL
	exitWait       = 500 * time.Millisecond // for the end of a program whose connection broke
	maxRestarts    = 3                      // in a run
	firstWait      = 500 * time.Millisecond // before the first restart; doubled for each further one
	maxFrame       = 4 << 20                // a message of the server, in bytes
	maxStream      = 64 << 20               // all notifications of a server over HTTP, in bytes
	maxTools       = 100
	maxSchema      = 20_000 // of the inputs of a tool, in bytes
	maxDescription = 1_000  // in characters
	maxNote        = 2_000  // on changed tools, in characters
)

// The rules of failed actions.
const (
	ruleGone    = "server-gone"    // the server ended, or its connection broke
	ruleTimeout = "server-timeout" // no result within the time limit
	ruleTool    = "tool-error"     // the tool reported an error
)

// server is a server with its tools.
type server struct {
	name     string
	spec     agentfile.Server
	timeout  time.Duration
	options  Options
	run      context.Context //nolint:containedctx // of the run, for the lives of its processes
	secrets  *strings.Replacer
	conn     *connection // nil if it is gone
	restarts int
	changed  atomic.Bool // the server has announced other tools
	tools    []tool
}

// tool is a tool that is offered as an action.
type tool struct {
	id, name    string
	description string
	inputs      json.RawMessage
}

// start starts a server and lists its tools.
func start(ctx context.Context, name string, spec agentfile.Server, o Options) (*server, error) {
	s := &server{
		name: name, spec: spec, timeout: cmp.Or(spec.Timeout.Std(), defaultTimeout), options: o, run: ctx,
		secrets: strings.NewReplacer(secretsOf(spec)...),
	}
	if err := s.connect(ctx); err != nil {
		return nil, fmt.Errorf("start the MCP server %s: %w", name, err)
	}
	return s, nil
}

// connect starts or connects the server and lists its tools.
func (s *server) connect(ctx context.Context) error {
	limited, cancel := s.options.Clock.WithTimeout(ctx, startTimeout)
	defer cancel()
	conn, err := connect(s.run, limited, s.spec, s.options, func() { s.changed.Store(true) })
	if err == nil {
		s.conn = conn
		s.changed.Store(false)
		err = s.list(limited)
	}
	if err == nil {
		return nil
	}
	if clock.Err(limited) != nil && clock.Err(ctx) == nil {
		err = fmt.Errorf("it did not list its tools within %s", startTimeout)
	}
	err = errors.New(s.secrets.Replace(fmt.Sprintf("%v%s", err, conn.lastWords())))
	conn.close()
	s.conn = nil
	return err
}

// toolName matches the names of tools that can be actions.
var toolName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$`)

// list reads the tools of the server.
func (s *server) list(ctx context.Context) error {
	var tools []tool
	for t, err := range s.conn.session.Tools(ctx, nil) {
		switch {
		case err != nil:
			return fmt.Errorf("list its tools: %w", err)
		case len(tools) == maxTools:
			return fmt.Errorf("it has more than %d tools", maxTools)
		case !toolName().MatchString(t.Name):
			return fmt.Errorf("the name of its tool %q is not valid", sanitize.Line(t.Name, 80))
		}
		inputs, err := json.Marshal(t.InputSchema)
		if err != nil || len(inputs) > maxSchema {
			inputs = []byte(`{"type":"object","additionalProperties":true}`)
		}
		tools = append(tools, tool{s.name + "." + t.Name, t.Name, sanitize.Line(t.Description, maxDescription), inputs})
	}
	s.tools = tools
	return nil
}

// follow lists the tools again if the server announced that they changed, and returns a note on the changes.
func (s *server) follow(ctx context.Context) string {
	if s.conn == nil || !s.changed.Swap(false) {
		return ""
	}
	before := s.tools
	limited, cancel := s.options.Clock.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.list(limited); err != nil {
		return fmt.Sprintf("The tools of the MCP server %s changed, and cannot be listed: %s", s.name, sanitize.Line(err.Error(), maxDescription))
	}
	return s.difference(before)
}

// difference describes new, changed and removed tools.
func (s *server) difference(before []tool) string {
	old := map[string]tool{}
	for _, t := range before {
		old[t.id] = t
	}
	var lines []string
	for _, t := range s.tools {
		was, known := old[t.id]
		delete(old, t.id)
		switch {
		case !known:
			lines = append(lines, "new: "+t.String())
		case was.description != t.description || string(was.inputs) != string(t.inputs):
			lines = append(lines, "changed: "+t.String())
		}
	}
	for _, id := range slices.Sorted(maps.Keys(old)) {
		lines = append(lines, "gone: "+id)
	}
	if len(lines) == 0 {
		return ""
	}
	return sanitize.Text("The tools of the MCP server "+s.name+" changed.\n- "+strings.Join(lines, "\n- "), maxNote)
}

func (s *server) call(ctx context.Context, t tool, arguments map[string]any) (string, error) {
	limited, cancel := s.options.Clock.WithTimeout(ctx, s.timeout)
	defer cancel()
	result, err := s.conn.session.CallTool(limited, &sdk.CallToolParams{Name: t.name, Arguments: arguments})
	switch {
	case clock.Err(ctx) != nil:
		return "", clock.Err(ctx)
	case err != nil && clock.Err(limited) != nil:
		return "", action.Failure(ruleTimeout, "%s gave no result within %s", t.id, s.timeout)
	case isAnswer(err):
		return "", action.Failure(ruleTool, "%s: %s", t.id, s.secrets.Replace(err.Error()))
	case err != nil:
		return "", s.lose(err)
	}
	text := s.secrets.Replace(contentText(result))
	if result.IsError {
		return "", action.Failure(ruleTool, "%s: %s", t.id, cmp.Or(text, "it did not say why"))
	}
	return cmp.Or(text, "(no output)"), nil
}

// lose closes a broken connection and returns the failure of the call.
func (s *server) lose(err error) error {
	words := s.conn.lastWords()
	s.conn.close()
	s.conn = nil
	next := "The next call of one of its tools starts it again"
	if s.restarts == maxRestarts {
		next = fmt.Sprintf("It was started again %d times, which is the limit", maxRestarts)
	}
	return action.Failure(ruleGone, "the MCP server %s is gone: %s. The call may have been done, in part or not at all. %s",
		s.name, s.secrets.Replace(fmt.Sprintf("%v%s", err, words)), next)
}

// revive restarts a server that is gone, after a delay, and returns a note on changed tools.
func (s *server) revive(ctx context.Context) (note string, err error) {
	if s.conn != nil {
		return "", nil
	}
	if s.restarts == maxRestarts {
		return "", action.Failure(ruleGone, "the MCP server %s is gone, and was started again %d times already", s.name, maxRestarts)
	}
	s.restarts++
	if err := s.options.Clock.Sleep(ctx, restartWait(s.restarts)); err != nil {
		return "", err
	}
	before := s.tools
	if err := s.connect(ctx); err != nil {
		s.tools = before
		return "", action.Failure(ruleGone, "the MCP server %s is gone, and cannot be started again: %v", s.name, err)
	}
	return s.difference(before), nil
}

// isAnswer reports whether an error is one that the server sent.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*jsonrpc.Error](err)
	return ok
}

func (s *server) close() {
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
}

// String returns the tool for the list of actions.
func (t tool) String() string {
	return fmt.Sprintf("%s {%s}: %s", t.id, strings.Join(inputNames(t.inputs), ", "), t.description)
}

// contentText returns the text of a result, and descriptions of other content.
func contentText(r *sdk.CallToolResult) string {
	var parts []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, c.Text)
		case *sdk.ImageContent:
			parts = append(parts, fmt.Sprintf("[an image, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			parts = append(parts, fmt.Sprintf("[a sound, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			parts = append(parts, "[a link to "+c.URI+"]")
		case *sdk.EmbeddedResource:
			if c.Resource != nil {
				parts = append(parts, cmp.Or(c.Resource.Text, "[the resource "+c.Resource.URI+"]"))
			}
		}
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		if data, err := json.Marshal(r.StructuredContent); err == nil {
			return string(data)
		}
	}
	return strings.Join(parts, "\n")
}
