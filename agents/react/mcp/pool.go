package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// ErrNoApproval is returned for an agent with servers whose approval allows none of their tools.
var ErrNoApproval = errors.New("the tools of MCP servers need an approval; use --approve ask, " +
	"--allow with a pattern such as 'files.read_*', or approve: in the agent file")

// Options configure a Pool.
type Options struct {
	// Workspace is the folder in which servers are started.
	Workspace string
	// Servers are offered to every agent, by name.
	Servers map[string]agentfile.Server
	// Wrapper precedes the command lines of servers, such as a sandbox. It may be nil.
	Wrapper []string
	// Transport reaches the servers that have a URL; default: the network.
	Transport http.RoundTripper
	// Clock limits starts and calls, and waits before restarts; default: the machine's.
	Clock clock.Clock
}

// Pool starts the servers of agents when they are first needed, and ends them together. It is for one run, whose
// agents must not use it at once.
type Pool struct {
	ctx     context.Context //nolint:containedctx // of the run, for the lives of the servers
	options Options
	running map[string]*server // by agent and name
}

// NewPool returns a pool without servers. They end with ctx, or with Close.
func NewPool(ctx context.Context, o Options) *Pool {
	if o.Clock == nil {
		o.Clock = clock.Real()
	}
	return &Pool{ctx: ctx, options: o, running: map[string]*server{}}
}

// Close ends all servers.
func (p *Pool) Close() {
	for _, s := range p.running {
		s.close()
	}
	clear(p.running)
}

// Actions adds the tools of the servers of an agent, and of the pool, to its actions.
func (p *Pool) Actions(a *agentfile.Agent, actions action.Set, gate action.Gate) (action.Set, error) {
	specs := maps.Clone(p.options.Servers)
	if specs == nil {
		specs = map[string]agentfile.Server{}
	}
	maps.Copy(specs, a.Servers)
	if len(specs) == 0 {
		return actions, nil
	}
	gate.Approval = a.Approval.With(gate.Approval)
	if !gate.Approval.Offers() {
		return nil, ErrNoApproval
	}
	s := &set{Set: actions, gate: gate}
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		key := name
		if _, own := a.Servers[name]; own {
			key = a.ID + "/" + name
		}
		if p.running[key] == nil {
			started, err := start(p.ctx, name, specs[name], p.options)
			if err != nil {
				return nil, err
			}
			p.running[key] = started
		}
		s.servers = append(s.servers, p.running[key])
	}
	return s, nil
}

// set adds the tools of servers to a set of actions.
type set struct {
	action.Set
	gate    action.Gate
	servers []*server
}

// Do implements action.Set.
func (s *set) Do(ctx context.Context, id, input string) (action.Result, error) {
	var notes []string
	for _, of := range s.servers {
		notes = append(notes, of.follow(ctx))
	}
	result, err := s.do(ctx, id, input, &notes)
	for _, note := range notes {
		if err == nil && note != "" {
			result.Observation = strings.TrimSpace(result.Observation + "\n" + note)
		}
	}
	return result, err
}

func (s *set) do(ctx context.Context, id, input string, notes *[]string) (action.Result, error) {
	var ids []string
	for _, of := range s.servers {
		for _, t := range of.tools {
			if t.id == id {
				return s.call(ctx, of, t, input, notes)
			}
			ids = append(ids, t.id)
		}
	}
	if near := suggest.Nearest(id, ids); near != "" && strings.Contains(id, ".") {
		return action.Outcome("", action.Failure(action.RuleUnknownAction, "there is no action %q (did you mean %q?)", id, near)), nil
	}
	return s.Set.Do(ctx, id, input)
}

// call calls a tool if it is approved.
func (s *set) call(ctx context.Context, of *server, t tool, input string, notes *[]string) (action.Result, error) {
	if err := clock.Err(ctx); err != nil {
		return action.Result{}, err
	}
	arguments := map[string]any{}
	if err := action.Decode(input, &arguments); err != nil {
		return action.Outcome("", action.Failure(action.RuleBadInput, "%v", err)), nil
	}
	data, err := json.Marshal(arguments)
	if err != nil {
		return action.Outcome("", action.Failure(action.RuleBadInput, "the input is not JSON: %v", err)), nil
	}
	if err := s.gate.Approve(ctx, action.Request{Action: t.id, Subject: string(data)}); err != nil {
		return action.Outcome("", err), nil
	}
	note, err := of.revive(ctx)
	var text string
	if err == nil {
		*notes = append(*notes, note)
		text, err = of.call(ctx, t, arguments)
	}
	if ended := clock.Err(ctx); ended != nil {
		return action.Result{}, ended
	}
	return action.Outcome(text, err), nil
}

// Describe implements action.Set.
func (s *set) Describe() string {
	var b strings.Builder
	b.WriteString(s.Set.Describe())
	for _, of := range s.servers {
		for _, t := range of.tools {
			b.WriteString("- " + t.String() + "\n")
		}
	}
	return b.String()
}

// Declare implements action.Set.
func (s *set) Declare() []action.Declaration {
	all := s.Set.Declare()
	for _, of := range s.servers {
		for _, t := range of.tools {
			all = append(all, action.Declaration{ID: t.id, Description: t.description, Inputs: t.inputs})
		}
	}
	return all
}

// inputNames returns the properties of a JSON Schema, sorted, with a note at those that are optional.
func inputNames(schema json.RawMessage) []string {
	var object struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &object) != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(object.Properties))
	for i, name := range names {
		if !slices.Contains(object.Required, name) {
			names[i] += " (optional)"
		}
	}
	return names
}
