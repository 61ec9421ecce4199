package drive

import (
	"cmp"
	"maps"
	"net/http"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// serversPath precedes the name of an MCP server in its URL, below the base URL of the backend.
const serversPath = "/mcp/"

// compileServers compiles the scripts of the MCP servers.
func (d *driver) compileServers() (err error) {
	if len(d.scenario.MCP) == 0 {
		return nil
	}
	if d.servers, err = mcp.Compile(d.scenario.MCP); err != nil {
		return err
	}
	for _, f := range d.servers.PlannedFaults() {
		d.head.Faults = append(d.head.Faults, record.PlannedFault(f))
	}
	return nil
}

// startServers starts the scripted MCP servers of a trial.
func (t *Trial) startServers(p *mcp.Program, inject []mcp.Injection) {
	t.emit = t.collector.Emit
	if p == nil {
		return
	}
	t.servers = mcp.NewEngine(p, mcp.Options{Clock: t.Clock, Inject: inject, Before: t.collector.Calls, OnCall: func(c mcp.Call) {
		t.emit(event.New(c.N, c.Result, record.ToolCall{
			Server: c.Server, Tool: c.Tool, Arguments: c.Arguments, Line: c.Line,
			Error: c.Error, Fault: c.Fault, Latency: c.Latency, Calls: c.Before,
		}))
	}})
	t.Cleanup(t.servers.Close)
}

// MCPServers returns the URLs of the scripted MCP servers by name, and the transport that reaches them in process;
// nil: they listen on the loopback interface.
func (t *Trial) MCPServers() (urls map[string]string, via http.RoundTripper) {
	urls = map[string]string{}
	for i := range t.mcp {
		urls[t.mcp[i].Name] = cmp.Or(t.base, inProcess) + serversPath + t.mcp[i].Name
	}
	if t.base == "" && t.servers != nil {
		via = mcp.NewTransport(t.servers)
	}
	return urls, via
}

// inProcess is the base URL of a backend that is reached without a socket.
const inProcess = "http://127.0.0.1"

// addServers adds the scripted MCP servers to the agent's environment.
func (s *site) addServers(t *Trial) error {
	for i := range t.mcp {
		server := app.MCPServer{Name: t.mcp[i].Name, URL: s.Backend + serversPath + t.mcp[i].Name}
		if t.mcp[i].Transport == mcp.Stdio {
			program, err := t.Env.Program()
			if err != nil {
				return err
			}
			server.Command = mcp.Command(program, server.URL)
		}
		s.MCP = append(s.MCP, server)
	}
	s.Env = append(s.Env, app.MCPVariables(s.MCP)...)
	return nil
}

// inProcessTransport connects a client in process to the backend and the MCP servers.
func (t *Trial) inProcessTransport() http.RoundTripper {
	backend := mocks.NewTransport(t.engine)
	if t.servers == nil {
		return backend
	}
	return byPath{backend: backend, servers: mcp.NewTransport(t.servers)}
}

type byPath struct{ backend, servers http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b byPath) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Path, serversPath) {
		return b.servers.RoundTrip(r)
	}
	return b.backend.RoundTrip(r)
}

// addReport adds the findings of the MCP servers, and of the model of a simulated user, to those of the backend.
func (t *Trial) addReport(s *record.Script) {
	if t.userEngine != nil { // other findings are errors of the conversation
		r := t.userEngine.Report()
		for _, e := range r.Unused {
			s.Unused = append(s.Unused, t.userAt+e)
		}
		for _, e := range r.Unfired {
			s.Unfired = append(s.Unfired, t.userAt+e)
		}
	}
	if t.servers == nil {
		return
	}
	r := t.servers.Report()
	s.Unused = append(s.Unused, r.Unused...)
	s.Unexpected = append(s.Unexpected, r.Unexpected...)
	s.Invalid, s.InvalidTools = append(s.Invalid, r.Invalid...), r.Invalid
	s.Unfired = append(s.Unfired, r.Unfired...)
	maps.Copy(s.Perturbed, r.Injected)
}
