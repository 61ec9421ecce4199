package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rehearse-dev/rehearse/clock"
)

// Options configure an Engine. The zero value is usable.
type Options struct {
	// Clock for latencies; default clock.Real.
	Clock clock.Clock
	// Inject has faults at calls by number.
	Inject []Injection
	// OnCall is called once for each call of a tool, when it has ended; may be nil.
	OnCall func(Call)
	// Before counts what has come before a call that arrives, such as calls to a model; may be nil.
	Before func() int
}

// Call describes a call of a tool.
type Call struct {
	N            int // from 1, in order of arrival
	Server, Tool string
	Arguments    string // compact JSON
	// Line is the line that answered, such as "mcp[0].tools[1].replies[0]"; empty if none did.
	Line string
	// Result is the text of the result. Error is the reason why there is none, or the text of a result
	// that reports a failure.
	Result, Error string
	// Fault is the kind of a fault that took effect.
	Fault string
	// Latency is that of the line.
	Latency time.Duration
	// Before is what Options.Before returned when the call arrived.
	Before int
}

// Report has the findings of a trial.
type Report struct {
	// Unused has the lines that were delivered less often than planned.
	Unused []string
	// Unexpected has the calls that no line answered, and those of unknown tools.
	Unexpected []string
	// Invalid has the calls whose arguments do not match the schema of the tool, and the messages that break the protocol.
	Invalid []string
	// Unfired has the faults that fired less often than planned.
	Unfired []string
	// Injected counts how often each injection took effect, by its name; nil if none did.
	Injected map[string]int
}

// Engine answers the calls of one trial. It is safe for concurrent use. Close it.
type Engine struct {
	program *Program
	opts    Options
	// gone ends with the engine.
	gone   context.Context //nolint:containedctx // of all open calls
	leave  context.CancelFunc
	active sync.WaitGroup // open requests and connections
	marker string         // in a message that must be malformed
	served atomic.Int64

	mu                  sync.Mutex
	closed              bool
	calls               int
	progress            [][][]progress // by server, tool and line
	appeared            []bool         // the tools with later: true, by server
	unexpected, invalid []string
	servers             []*server
	injections          []*injection
}

// progress counts what happened to a line; left counts the calls whose client did not wait for its result.
type progress struct{ used, reserved, fired, left int }

// NewEngine returns an engine at the start of a program.
func NewEngine(p *Program, o Options) *Engine {
	if o.Clock == nil {
		o.Clock = clock.Real()
	}
	e := &Engine{
		program: p, opts: o, marker: rand.Text(), appeared: make([]bool, len(p.servers)), injections: newInjections(o.Inject),
	}
	e.gone, e.leave = context.WithCancel(context.Background())
	for i, tools := range p.tools {
		e.progress = append(e.progress, make([][]progress, len(tools)))
		for k := range tools {
			e.progress[i][k] = make([]progress, len(tools[k].lines))
		}
		e.servers = append(e.servers, newServer(e, i))
	}
	return e
}

// Served returns the number of messages that clients have sent to the servers.
func (e *Engine) Served() int { return int(e.served.Load()) }

// enter adds an open request, for which Close waits. It returns false if the engine is closed.
func (e *Engine) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.active.Add(1)
	}
	return !e.closed
}

// Close ends all open calls and connections, and waits for them. The report is then complete. It may be called
// again.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.leave()
	for _, s := range e.servers {
		s.life().end()
	}
	e.active.Wait()
	for _, s := range e.servers {
		s.life().end() // sessions that began in the meantime
	}
	return nil
}

// Limits on what is recorded of calls.
const (
	maxCalls    = 10_000
	MaxRecorded = 64 << 10 // bytes of a text; a longer one is cut
	maxFindings = 100      // of each kind
)

// call is a call in progress.
type call struct {
	Call
	server int
	tool   *tool
	line   *line
	state  *progress
	fault  string // that fires in this call
	uses   bool   // the line is used if the call is delivered
	// injected is the injection of fault; nil for a fault of the line.
	injected *injection
}

// unknownTool and its neighbours are codes of JSON-RPC.
const (
	invalidParams = -32602
	internalError = -32603
)

// answer answers a call of a tool. cut ends the connection of the call and the server's sessions.
func (e *Engine) answer(ctx context.Context, server int, params *sdk.CallToolParamsRaw, cut func()) (*sdk.CallToolResult, error) {
	c, err := e.begin(server, params)
	if c == nil {
		return nil, err
	}
	defer func() { e.finish(c) }()
	if err != nil {
		c.Error = err.Error()
		return nil, err
	}
	if err := e.opts.Clock.Sleep(ctx, c.Latency); err != nil {
		return nil, e.abandon(c, err)
	}
	e.mu.Lock()
	c.state.reserved--
	c.fire()
	if c.uses {
		c.state.used++
	}
	e.mu.Unlock()
	c.Fault = c.fault
	return e.play(ctx, c, cut)
}

// play delivers the result of a call, or its fault.
func (e *Engine) play(ctx context.Context, c *call, cut func()) (*sdk.CallToolResult, error) {
	switch c.fault {
	case hang:
		c.Error = "the scripted server did not answer (hang)"
		if err := e.opts.Clock.Sleep(ctx, clock.Forever); err != nil {
			return nil, err
		}
	case malformed:
		c.Error = "the scripted server sent a malformed message"
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: e.marker}}}, nil
	case protocolError:
		c.Error = "the scripted server reported an internal error"
		return nil, &jsonrpc.Error{Code: internalError, Message: "internal error (a scripted fault)"}
	case exit:
		c.Error = "the scripted server ended"
		cut()
		return nil, context.Canceled
	case toolError:
		c.Error = "the tool failed (a scripted fault)"
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: c.Error}}}, nil
	case ListChanged:
		e.appear(c.server)
	}
	c.Result = recorded(c.line.text)
	if c.line.result.IsError {
		c.Result, c.Error = "", c.Result
	}
	return c.line.result, nil
}

// NotAwaited is the error of a call whose client left or canceled it. Its line is left to the next call.
const NotAwaited = "the client did not wait for the result"

// abandon undoes the reservation of a call whose client has left or canceled it.
func (e *Engine) abandon(c *call, err error) error {
	e.mu.Lock()
	c.state.reserved--
	c.state.left++
	e.mu.Unlock()
	c.Error = NotAwaited
	return err
}

// finish reports the end of a call.
func (e *Engine) finish(c *call) {
	if e.opts.OnCall != nil {
		e.opts.OnCall(c.Call)
	}
}

// begin finds the line of a call and reserves it. The error, of JSON-RPC, is the answer to a call without one.
// It returns no call beyond maxCalls.
func (e *Engine) begin(server int, params *sdk.CallToolParamsRaw) (*call, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	refuse := func(message string) error { return &jsonrpc.Error{Code: invalidParams, Message: message} }
	if e.calls == maxCalls {
		return nil, refuse(fmt.Sprintf("there were %d calls in this trial already", maxCalls))
	}
	e.calls++
	arguments := compact(params.Arguments)
	c := &call{server: server, Call: Call{
		N: e.calls, Server: e.program.servers[server].Name, Tool: recorded(params.Name), Arguments: recorded(arguments),
	}}
	if e.opts.Before != nil {
		c.Before = e.opts.Before()
	}
	find := func(list *[]string, problem string) error {
		if len(*list) < maxFindings {
			*list = append(*list, fmt.Sprintf("MCP call %d: %s", c.N, problem))
		}
		return refuse(problem)
	}
	tools := e.program.tools[server]
	at := slices.IndexFunc(tools, func(t tool) bool { return t.Name == params.Name && (!t.Later || e.appeared[server]) })
	if at < 0 {
		return c, find(&e.unexpected, e.unknown(server, params.Name))
	}
	c.tool = &tools[at]
	args, err := c.tool.check(arguments)
	if err != nil {
		return c, find(&e.invalid, fmt.Sprintf("the arguments of %s at the MCP server %s do not match its schema: %v", c.Tool, c.Server, err))
	}
	states := e.progress[server][at]
	i := c.tool.find(args, states)
	if i < 0 {
		return c, find(&e.unexpected, c.tool.explain(c.Server, arguments, args, states))
	}
	c.reserve(&c.tool.lines[i], &states[i])
	e.inject(c)
	return c, nil
}

// reserve reserves a line for the call and decides whether its fault fires.
func (c *call) reserve(l *line, s *progress) {
	c.line, c.state, c.uses = l, s, true
	c.Line, c.Latency = l.name, l.Latency.Std()
	s.reserved++
	if l.Fault != "" && (!l.answers() || s.fired == 0) {
		c.fault, c.uses = l.Fault, !l.answers() || l.Fault == ListChanged
	}
}

// find returns the index of the line for a call, or -1.
func (t *tool) find(args map[string]any, states []progress) int {
	for i := range t.lines {
		l := &t.lines[i]
		switch {
		case l.limit > 0 && states[i].used+states[i].reserved >= l.limit:
		case l.differs(args) == nil:
			return i
		case t.sequence:
			return -1
		}
	}
	return -1
}

// differs returns the first condition that the arguments do not meet, or nil.
func (l *line) differs(args map[string]any) *condition {
	for i := range l.conditions {
		if !l.conditions[i].Fits(textOf(args, l.conditions[i].argument)) {
			return &l.conditions[i]
		}
	}
	return nil
}

// textOf returns the text of an argument: that of a string, else compact JSON; empty if it is missing.
func textOf(args map[string]any, name string) string {
	value, ok := args[name]
	if !ok {
		return ""
	}
	if text, ok := value.(string); ok {
		return text
	}
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(data)
}

// check decodes arguments and validates them.
func (t *tool) check(arguments string) (map[string]any, error) {
	args := map[string]any{}
	if err := json.Unmarshal([]byte(arguments), &args); err != nil {
		return nil, fmt.Errorf("they are not a JSON object: %w", err)
	}
	return args, t.schema.Validate(args)
}

// compact removes the white space of JSON, which differs between clients.
func compact(text json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return cmp.Or(string(text), "{}")
	}
	return out.String()
}
