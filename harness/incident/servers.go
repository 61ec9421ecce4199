package incident

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// ServerCall is a call of a tool of a scripted MCP server.
type ServerCall struct {
	N int // from 1, in order of arrival
	record.ToolCall
	Result string
}

// serverCalls returns the calls of tools of MCP servers in a trial, in order of arrival. Their events are in the order in
// which they ended.
func serverCalls(trial *record.Trial) (all []ServerCall) {
	for i := range trial.Events {
		e := &trial.Events[i].Event
		if call, ok := event.Read[record.ToolCall](e); ok {
			all = append(all, ServerCall{N: e.N, ToolCall: call, Result: e.Detail})
		}
	}
	slices.SortStableFunc(all, func(a, b ServerCall) int { return cmp.Compare(a.N, b.N) })
	return all
}

// servers returns the script of the MCP servers that were called: each call gets the recorded result, or the fault, whether it
// was scripted or injected. It notes what the recording does not have.
func (c *Conversation) servers(match capture.Matching) []mcp.Server {
	var servers []mcp.Server
	faults, left, cut := 0, 0, 0
	for _, call := range c.ServerCalls {
		line, ok := call.script(match)
		if !ok {
			left++
			continue
		}
		if call.Fault != "" {
			faults++
		}
		if len(call.Result) == mcp.MaxRecorded || len(call.Error) == mcp.MaxRecorded {
			cut++
		}
		tool := toolOf(&servers, call.Server, call.Tool)
		tool.Replies = append(tool.Replies, line)
	}
	if len(servers) == 0 {
		return nil
	}
	if problems := mcp.Validate(servers); len(problems) > 0 { // a recording that was edited
		c.Notes = append(c.Notes, "The MCP servers are left out, as their recorded calls are not a valid script: mcp"+problems[0].String())
		return nil
	}
	for _, note := range []struct {
		n    int
		text string
	}{
		{faults, "The faults of MCP servers are scripted at the calls where they took effect: %d."},
		{left, "Calls of MCP servers that no line answered, or for which the agent did not wait, are left out: %d."},
		{cut, "Long results of MCP servers were recorded without their end: %d."},
	} {
		if note.n > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf(note.text, note.n))
		}
	}
	return servers
}

// script returns the line that repeats a call; ok is false if the call took no line.
func (s *ServerCall) script(match capture.Matching) (line mcp.Line, ok bool) {
	if s.Line == "" || s.Error == mcp.NotAwaited {
		return line, false
	}
	line.Latency = mocks.Duration(s.Latency)
	if match == capture.ByText {
		line.When = exactly(s.Arguments)
	}
	if slices.Contains(mcp.Faults(), s.Fault) {
		line.Fault = s.Fault
		if s.Fault != mcp.ListChanged {
			return line, true
		}
	}
	if line.Error = s.Error; line.Error == "" {
		line.Text = cmp.Or(mocks.Text(s.Result), mocks.EmptyText)
	}
	return line, true
}

// exactly returns the condition that a call has exactly these arguments, or nil for a call without arguments.
func exactly(arguments string) *mcp.When {
	var values map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &values) != nil {
		return nil
	}
	when := mcp.When{Arguments: map[string]*mocks.Match{}}
	for name, raw := range values {
		value := string(raw)
		_ = json.Unmarshal(raw, &value) // other values are compared as JSON
		if value != "" {
			when.Arguments[name] = &mocks.Match{Equals: value}
		}
	}
	if len(when.Arguments) == 0 {
		return nil
	}
	return &when
}

// toolOf returns the tool of a server, which it adds if it is new.
func toolOf(servers *[]mcp.Server, server, name string) *mcp.Tool {
	i := slices.IndexFunc(*servers, func(s mcp.Server) bool { return s.Name == server })
	if i < 0 {
		i = len(*servers)
		*servers = append(*servers, mcp.Server{Name: server})
	}
	tools := &(*servers)[i].Tools
	k := slices.IndexFunc(*tools, func(t mcp.Tool) bool { return t.Name == name })
	if k < 0 {
		k = len(*tools)
		*tools = append(*tools, mcp.Tool{Name: name})
	}
	return &(*tools)[k]
}

// copyNote returns what a scenario lacks that a recording does not have, and where it is. driven is true if the agent's
// options are known, served if the calls of MCP servers are.
func (c *Conversation) copyNote(driven, served bool) string {
	if c.Scenario == "" {
		return ""
	}
	var missing, keys []string
	if !driven {
		missing, keys = append(missing, "the agent's options"), append(keys, "drive:")
	}
	if c.Servers && !served {
		missing, keys = append(missing, "MCP servers"), append(keys, "mcp:")
	}
	var notes []string
	if len(missing) > 0 {
		text := strings.Join(missing, " and ") + " are not recorded; copy " + strings.Join(keys, " and ") + " from " + c.Scenario + "."
		notes = append(notes, strings.ToUpper(text[:1])+text[1:])
	}
	if served {
		notes = append(notes, fmt.Sprintf("Of MCP servers, only the calls are recorded; copy transports, descriptions, schemas, "+
			"resources, prompts and other tools from mcp: in %s if the agent needs them.", c.Scenario))
	}
	return strings.Join(notes, " ")
}
