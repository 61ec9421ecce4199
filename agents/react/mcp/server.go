// Package mcp offers the tools of MCP servers as actions of a ReAct agent. A tool is the action
// "server.tool", behind the same approval as shell. It is the only package that links the SDK.
//
// A server is a program that is started in the workspace, in a process group of its own, with an environment
// without keys except for the named variables. It has all other rights of the user. What it sends is data of
// a stranger: names, descriptions, schemas and results are limited and sanitized. A server that ends, hangs or
// sends too much makes its actions fail with a named rule; it does not end the run.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The limits of a server.
const (
	startTimeout   = 30 * time.Second       // for the program, the handshake and the list of tools
	defaultTimeout = time.Minute            // of a call
	grace          = 2 * time.Second        // between SIGTERM and SIGKILL
	exitWait       = 500 * time.Millisecond // for the end of a program whose connection broke
	maxFrame       = 4 << 20                // a message of the server, in bytes
	maxTools       = 100
	maxSchema      = 20_000 // of the inputs of a tool, in bytes
	maxDescription = 1_000  // in characters
)

// The rules of failed actions.
const (
	ruleGone    = "server-gone"    // the server ended, or its connection broke
	ruleTimeout = "server-timeout" // no result within the time limit
	ruleTool    = "tool-error"     // the tool reported an error
)

// server is a running server with its tools.
type server struct {
	name    string
	timeout time.Duration
	clock   clock.Clock
	process *child.Process
	stderr  *child.Tail
	session *sdk.ClientSession
	tools   []tool
}

// tool is a tool that is offered as an action.
type tool struct {
	id, name    string
	description string
	inputs      json.RawMessage
}

// start starts a server and lists its tools.
func start(ctx context.Context, name string, spec agentfile.Server, o Options) (*server, error) {
	s := &server{name: name, timeout: cmp.Or(spec.Timeout.Std(), defaultTimeout), clock: o.Clock, stderr: &child.Tail{}}
	var err error
	s.process, err = child.Start(ctx, child.Program{
		Argv: spec.Command, Dir: o.Workspace, Env: action.Environment(spec.Env...), Interactive: true, Stderr: s.stderr, Grace: grace,
	})
	if err != nil {
		return nil, fmt.Errorf("start the MCP server %s: %w", name, err)
	}
	limited, cancel := o.Clock.WithTimeout(ctx, startTimeout)
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "rehearse", Version: "1"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	transport := &sdk.IOTransport{Reader: s.process.Stdout, Writer: s.process.Stdin, MaxLineLength: maxFrame}
	if s.session, err = client.Connect(limited, transport, nil); err == nil {
		err = s.list(limited)
	}
	if err == nil {
		return s, nil
	}
	if clock.Err(limited) != nil && clock.Err(ctx) == nil {
		err = fmt.Errorf("it did not list its tools within %s", startTimeout)
	}
	err = fmt.Errorf("start the MCP server %s: %w%s", name, err, s.lastWords())
	s.close()
	return nil, err
}

// toolName matches the names of tools that can be actions.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$`)

// list reads the tools of the server.
func (s *server) list(ctx context.Context) error {
	for t, err := range s.session.Tools(ctx, nil) {
		switch {
		case err != nil:
			return fmt.Errorf("list its tools: %w", err)
		case len(s.tools) == maxTools:
			return fmt.Errorf("it has more than %d tools", maxTools)
		case !toolName.MatchString(t.Name):
			return fmt.Errorf("the name of its tool %q is not valid", sanitize.Line(t.Name, 80))
		}
		inputs, err := json.Marshal(t.InputSchema)
		if err != nil || len(inputs) > maxSchema {
			inputs = []byte(`{"type":"object","additionalProperties":true}`)
		}
		s.tools = append(s.tools, tool{s.name + "." + t.Name, t.Name, sanitize.Line(t.Description, maxDescription), inputs})
	}
	return nil
}

// call calls a tool and returns its result as text.
func (s *server) call(ctx context.Context, t tool, arguments map[string]any) (string, error) {
	limited, cancel := s.clock.WithTimeout(ctx, s.timeout)
	defer cancel()
	result, err := s.session.CallTool(limited, &sdk.CallToolParams{Name: t.name, Arguments: arguments})
	switch {
	case clock.Err(ctx) != nil:
		return "", clock.Err(ctx)
	case err != nil && clock.Err(limited) != nil:
		return "", action.Failure(ruleTimeout, "%s gave no result within %s", t.id, s.timeout)
	case isAnswer(err):
		return "", action.Failure(ruleTool, "%s: %v", t.id, err)
	case err != nil: // the connection is broken, and every further call fails alike
		return "", action.Failure(ruleGone, "the MCP server %s is gone: %v%s", s.name, err, s.lastWords())
	}
	text := contentText(result)
	if result.IsError {
		return "", action.Failure(ruleTool, "%s: %s", t.id, cmp.Or(text, "it did not say why"))
	}
	return cmp.Or(text, "(no output)"), nil
}

// isAnswer reports whether an error is one that the server sent.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*jsonrpc.Error](err)
	return ok
}

// lastWords returns the end of the standard error of a server that ended, if it has any.
func (s *server) lastWords() string {
	if !s.process.Await(context.Background(), exitWait) {
		return ""
	}
	s.process.Wait()
	if text := s.stderr.Lines(); text != "" {
		return "; it wrote: " + sanitize.Line(text, 500)
	}
	return ""
}

// close ends the server: it closes its standard input, and then stops it.
func (s *server) close() {
	_ = s.process.Stdin.Close() // by the protocol, the sign to end
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	s.process.Stop(ctx)
	if s.session != nil {
		_ = s.session.Close() // its streams are closed
	}
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
