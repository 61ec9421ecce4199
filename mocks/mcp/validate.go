package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/mocks"
)

// Limits on scripts, far above the needs of ones written by hand.
const (
	maxServers = 20
	maxTools   = 200
)

var (
	serverName = lazyregexp.New(`^[a-z][a-z0-9_-]{0,63}$`)
	toolName   = lazyregexp.New(`^[A-Za-z0-9_.-]{1,128}$`) // of the protocol
)

// validator collects problems.
type validator struct{ problems []mocks.Problem }

func (v *validator) add(path, format string, args ...any) {
	v.problems = append(v.problems, mocks.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Validate returns all mistakes in the scripts of servers, in their order. Paths begin with the index of the
// server, as in "[0].tools[1].replies[0].fault".
func Validate(servers []Server) []mocks.Problem {
	v := &validator{}
	if len(servers) > maxServers {
		v.add("", "there are %d servers; at most %d are possible", len(servers), maxServers)
		return v.problems
	}
	names := map[string]bool{}
	for i := range servers {
		s, path := &servers[i], fmt.Sprintf("[%d]", i)
		switch {
		case !serverName().MatchString(s.Name):
			v.add(path+".name", `%q is not a name of a server; write a lower-case letter, and at most 63 more letters, digits, "_" and "-"`, s.Name)
		case names[variable(s.Name)]:
			v.add(path+".name", "two servers have the name %q, or names that differ only in _ and -; rename one", s.Name)
		}
		names[variable(s.Name)] = true
		v.server(path, s)
	}
	return v.problems
}

func (v *validator) server(path string, s *Server) {
	if s.Transport != "" && s.Transport != HTTP && s.Transport != Stdio {
		v.add(path+".transport", "%q is not a transport; write http or stdio", s.Transport)
	}
	if len(s.Tools)+len(s.Resources)+len(s.Prompts) == 0 {
		v.add(path, "the server offers nothing; write tools, resources or prompts")
	}
	if len(s.Tools) > maxTools {
		v.add(path+".tools", "there are %d tools; at most %d are possible", len(s.Tools), maxTools)
		return
	}
	v.unique(path+".tools", "name", len(s.Tools), func(i int) string { return s.Tools[i].Name })
	v.unique(path+".resources", "uri", len(s.Resources), func(i int) string { return s.Resources[i].URI })
	v.unique(path+".prompts", "name", len(s.Prompts), func(i int) string { return s.Prompts[i].Name })
	for i := range s.Tools {
		v.tool(fmt.Sprintf("%s.tools[%d]", path, i), &s.Tools[i])
	}
	for i, r := range s.Resources {
		if u, err := url.Parse(r.URI); err != nil || !u.IsAbs() {
			v.add(fmt.Sprintf("%s.resources[%d].uri", path, i), `%q is not an address with a scheme, such as "ticket://1"`, r.URI)
		}
	}
	v.appears(path, s)
}

// appears checks that tools with later: true can appear.
func (v *validator) appears(path string, s *Server) {
	announced := slices.ContainsFunc(s.Tools, func(t Tool) bool {
		return slices.ContainsFunc(slices.Concat(t.Replies, t.Rules), func(l Line) bool { return l.Fault == ListChanged })
	})
	for i := range s.Tools {
		if s.Tools[i].Later && !announced {
			v.add(fmt.Sprintf("%s.tools[%d].later", path, i), "no line of the server has fault: list_changed, so the tool would never appear")
		}
	}
}

// unique checks the names of n things.
func (v *validator) unique(path, key string, n int, name func(int) string) {
	seen := map[string]bool{}
	for i := range n {
		if at := fmt.Sprintf("%s[%d].%s", path, i, key); name(i) == "" {
			v.add(at, "is empty")
		} else if seen[name(i)] {
			v.add(at, "%q is used twice", name(i))
		}
		seen[name(i)] = true
	}
}

func (v *validator) tool(path string, t *Tool) {
	if t.Name != "" && !toolName().MatchString(t.Name) {
		v.add(path+".name", `%q is not a name of a tool; write at most 128 letters, digits, "_", "-" and "."`, t.Name)
	}
	if _, err := t.schema(); err != nil {
		v.add(path+".input", "%v", err)
	} else if err := t.offer(); err != nil {
		v.add(path+".input", "%v", err)
	} else {
		v.keywords(path+".input", t.Input)
	}
	if len(t.Replies) > 0 && len(t.Rules) > 0 {
		v.add(path+".rules", "a tool has replies or rules, not both")
	}
	for i := range t.Replies {
		at := fmt.Sprintf("%s.replies[%d]", path, i)
		v.line(at, &t.Replies[i])
		if t.Replies[i].Optional {
			v.add(at+".optional", "only rules can be optional; replies are used in order")
		}
	}
	for i := range t.Rules {
		v.line(fmt.Sprintf("%s.rules[%d]", path, i), &t.Rules[i])
	}
}

func (v *validator) line(path string, l *Line) {
	var given []string
	for _, part := range []struct {
		key string
		has bool
	}{{"text", l.Text != ""}, {"json", l.JSON != nil}, {"error", l.Error != ""}} {
		if part.has {
			given = append(given, part.key)
		}
	}
	switch {
	case len(given) > 1:
		v.add(path+"."+given[1], "a line has at most one of text, json and error, not %s", strings.Join(given, " and "))
	case len(given) == 0 && l.Fault == "":
		v.add(path, "the line has neither a result (text, json, error) nor a fault")
	case len(given) == 0 && l.Fault == ListChanged:
		v.add(path+".fault", "list_changed delivers the result, and the line has none; write text, json or error")
	}
	if l.Fault != "" && !slices.Contains(Faults(), l.Fault) {
		v.problems = append(v.problems, mocks.Problem{
			Path: path + ".fault", Message: fmt.Sprintf("%q is not a kind of fault; there are %s", l.Fault, strings.Join(Faults(), ", ")),
			Nearest: suggest.Nearest(l.Fault, Faults()),
		})
	}
	if l.JSON != nil {
		if _, err := json.Marshal(l.JSON); err != nil {
			v.add(path+".json", "cannot be written as JSON: %v", err)
		}
	}
	if l.Times < 0 {
		v.add(path+".times", "must be at least 1, not %d", l.Times)
	}
	if l.Latency < 0 {
		v.add(path+".latency", "durations cannot be negative")
	}
	if l.When == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.When.Arguments)) {
		if m := l.When.Arguments[name]; m == nil {
			v.add(path+".when.arguments", "the condition on %q is empty", name)
		} else if _, err := m.Compile(); err != nil {
			v.add(path+".when.arguments", "%s: %v", name, err)
		}
	}
}

// schema returns the schema of the arguments, which may not refer to other documents.
func (t *Tool) schema() (*jsonschema.Resolved, error) {
	data, err := json.Marshal(t.input())
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be written as JSON: %w", err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("it is not a JSON Schema: %w", err)
	}
	if s.Type != "object" {
		return nil, errors.New("the schema of the arguments of a tool needs type: object")
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	return resolved, nil
}

// offer returns an error if the SDK, which panics then, does not accept the tool.
func (t *Tool) offer() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("no server can offer the tool: %v", p)
		}
	}()
	addTool(sdk.NewServer(&sdk.Implementation{Name: "check"}, nil), t)
	return nil
}

func (t *Tool) input() map[string]any {
	if t.Input == nil {
		return map[string]any{"type": "object"}
	}
	return t.Input
}

// variable returns the part of the names of environment variables for a server, such as "MY_FILES".
func variable(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }
