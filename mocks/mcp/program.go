package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rehearse-dev/rehearse/mocks"
)

// Program is the compiled scripts of the servers of a scenario. It is immutable and can be shared by all trials.
type Program struct {
	servers []Server
	tools   [][]tool // of each server
}

// tool is a compiled tool.
type tool struct {
	*Tool
	schema   *jsonschema.Resolved
	sequence bool // replies
	lines    []line
}

// line is a compiled line.
type line struct {
	*Line
	name       string // "mcp[0].tools[1].replies[0]"
	conditions []condition
	result     *sdk.CallToolResult
	text       string // of the result
	limit      int    // how often the line answers; 0 means no limit
}

// condition is a compiled condition on an argument.
type condition struct {
	argument string
	mocks.Matcher
}

// Compile compiles the scripts of servers. The error joins all problems of invalid scripts.
func Compile(servers []Server) (*Program, error) {
	if problems := Validate(servers); len(problems) > 0 {
		errs := make([]error, len(problems))
		for i, p := range problems {
			errs[i] = errors.New("mcp" + p.String())
		}
		return nil, fmt.Errorf("compile the scripts of the MCP servers: %w", errors.Join(errs...))
	}
	p := &Program{servers: servers, tools: make([][]tool, len(servers))}
	for i := range servers {
		for k := range servers[i].Tools {
			t, err := compileTool(fmt.Sprintf("mcp[%d].tools[%d]", i, k), &servers[i].Tools[k])
			if err != nil {
				return nil, fmt.Errorf("compile the scripts of the MCP servers: %w", err)
			}
			p.tools[i] = append(p.tools[i], t)
		}
	}
	return p, nil
}

func compileTool(name string, source *Tool) (t tool, err error) {
	t = tool{Tool: source, sequence: len(source.Replies) > 0}
	if t.schema, err = source.schema(); err != nil {
		return t, fmt.Errorf("%s.input: %w", name, err)
	}
	lines, key := source.Rules, "rules"
	if t.sequence {
		lines, key = source.Replies, "replies"
	}
	for i := range lines {
		l := line{Line: &lines[i], name: fmt.Sprintf("%s.%s[%d]", name, key, i), limit: lines[i].Times}
		if t.sequence {
			l.limit = max(l.limit, 1)
		}
		if l.conditions, err = lines[i].When.compile(); err != nil {
			return t, fmt.Errorf("%s.%w", l.name, err)
		}
		if l.result, l.text, err = lines[i].compile(); err != nil {
			return t, fmt.Errorf("%s.json: %w", l.name, err)
		}
		t.lines = append(t.lines, l)
	}
	return t, nil
}

// compile returns the conditions in the order of the names of arguments.
func (w *When) compile() (all []condition, err error) {
	if w == nil {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(w.Arguments)) {
		m, err := w.Arguments[name].Compile()
		if err != nil {
			return nil, fmt.Errorf("when.arguments.%s: %w", name, err)
		}
		all = append(all, condition{name, m})
	}
	return all, nil
}

// compile returns the result of a line, and its text.
func (l *Line) compile() (*sdk.CallToolResult, string, error) {
	r := &sdk.CallToolResult{IsError: l.Error != ""}
	text := l.Text.String()
	switch {
	case l.Error != "":
		text = l.Error
	case l.JSON != nil:
		data, err := json.Marshal(l.JSON)
		if err != nil {
			return nil, "", err
		}
		text = string(data)
		if _, object := l.JSON.(map[string]any); object { // the protocol allows nothing else
			r.StructuredContent = json.RawMessage(data)
		}
	}
	r.Content = []sdk.Content{&sdk.TextContent{Text: text}}
	return r, text, nil
}

// PlannedFault is a fault of a script that must fire Times times.
type PlannedFault struct {
	Line  string // "mcp[0].tools[1].replies[0]"
	Kind  string
	Times int
}

// PlannedFaults returns the faults in the order of the scripts.
func (p *Program) PlannedFaults() (planned []PlannedFault) {
	for _, tools := range p.tools {
		for i := range tools {
			for k := range tools[i].lines {
				l := &tools[i].lines[k]
				if l.Fault != "" {
					planned = append(planned, PlannedFault{Line: l.name, Kind: l.Fault, Times: l.faultTimes()})
				}
			}
		}
	}
	return planned
}

// faultTimes returns how often the fault of a line must fire; 0 without one.
func (l *line) faultTimes() int {
	switch {
	case l.Fault == "" || l.Optional:
		return 0
	case l.answers():
		return 1
	}
	return max(l.limit, 1)
}
