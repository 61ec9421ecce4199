package kind

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/agents/react/mcp"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// WorkspaceOptions are the keys of a scenario for the workspace of agents, further agents, and a person
// who answers questions.
type WorkspaceOptions struct {
	// Example is a shipped agent, whose workspace is used.
	Example string `yaml:"example,omitempty" json:"example,omitempty"`
	// Agents are further agent files by name.
	Agents map[string]string `yaml:"agents,omitempty" json:"agents,omitempty"`
	// Files are the initial files of the workspace by path.
	Files map[string]string `yaml:"files,omitempty" json:"files,omitempty"`
	// Links are the targets of symbolic links in the workspace by path.
	Links map[string]string `yaml:"links,omitempty" json:"links,omitempty"`
	// Approve is added to the approval of each agent; Person is asked.
	Approve agentfile.Approval `yaml:"approve,omitempty" json:"approve,omitzero"`
	// Person has the answers to questions, in order; further questions are not answered.
	Person []string `yaml:"person,omitempty" json:"person,omitempty"`
}

// Check reports invalid agents, files and links; at is the path of the options.
func (s *WorkspaceOptions) Check(c *scenarios.Checker, at string) {
	if s.Example != "" {
		if names := fixtures.Agents(); !slices.Contains(names, s.Example) {
			c.Add(at+".example", suggest.Nearest(s.Example, names),
				"there is no shipped agent %q; there are %s", s.Example, strings.Join(names, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		if _, err := agentfile.Load(name, []byte(s.Agents[name])); err != nil {
			c.Add(yamlsrc.Join(at+".agents", name), "", "the agent file cannot be used: %v", err)
		}
	}
	if err := s.Approve.Check(); err != nil {
		c.Add(at+".approve", "", "%v", err)
	}
	c.Tree(at, "workspace", s.Files, s.Links)
}

// CheckAgent reports an agent without a file.
func (s *WorkspaceOptions) CheckAgent(c *scenarios.Checker, at, name string) {
	if _, ok := s.Agents[name]; ok {
		return
	}
	names := slices.Sorted(maps.Keys(s.Agents))
	if s.Example != "" {
		files, err := exampleAgents(s.Example)
		if err != nil {
			return // Check reports it
		}
		if _, ok := files[name]; ok {
			return
		}
		names = append(names, slices.Sorted(maps.Keys(files))...)
	}
	c.Add(at, suggest.Nearest(name, names), "there is no agent file %q; there are %s", name, strings.Join(names, ", "))
}

// Workspace is the folder of the agents of one trial, with a person who answers their questions.
type Workspace struct {
	Folder string
	Person react.Person

	approval agentfile.Approval
	servers  *mcp.Pool
}

// Open creates the workspace of a trial, which removes it at its end.
func (s *WorkspaceOptions) Open(t *drive.Trial) (*Workspace, error) {
	folder, err := os.MkdirTemp("", "rehearse-workspace-")
	if err != nil {
		return nil, fmt.Errorf("create a folder: %w", err)
	}
	t.Cleanup(func() error { return os.RemoveAll(folder) })
	if s.Example != "" {
		workspace, err := exampleWorkspace(s.Example)
		if err != nil {
			return nil, err
		}
		if err := os.CopyFS(folder, workspace); err != nil {
			return nil, fmt.Errorf("copy the workspace of %s: %w", s.Example, err)
		}
	}
	if err := drive.Furnish(folder, s.Files, s.Links); err != nil {
		return nil, err
	}
	servers := mcp.NewPool(context.Background(), poolOptions(t, folder))
	t.Cleanup(func() error { servers.Close(); return nil })
	return &Workspace{Folder: folder, Person: &person{answers: s.Person}, approval: s.Approve, servers: servers}, nil
}

// poolOptions returns the scripted MCP servers of a trial, which are offered to every agent. Only with them does the
// time of the trial limit starts and calls; the programs of agent files run in real time.
func poolOptions(t *drive.Trial, folder string) mcp.Options {
	o := mcp.Options{Workspace: folder}
	urls, via := t.MCPServers()
	if len(urls) == 0 {
		return o
	}
	o.Transport, o.Clock, o.Servers = via, t.Clock, map[string]agentfile.Server{}
	for name, url := range urls {
		o.Servers[name] = agentfile.Server{URL: url}
	}
	return o
}

// AgentFiles returns the agent files by name.
func (s *WorkspaceOptions) AgentFiles() (map[string]string, error) {
	files := map[string]string{}
	if s.Example != "" {
		var err error
		if files, err = exampleAgents(s.Example); err != nil {
			return nil, err
		}
	}
	maps.Copy(files, s.Agents)
	return files, nil
}

// load loads the agent files by name.
func (s *WorkspaceOptions) load() (map[string]*agentfile.Agent, error) {
	files, err := s.AgentFiles()
	if err != nil {
		return nil, err
	}
	agents := make(map[string]*agentfile.Agent, len(files))
	for name, text := range files {
		if agents[name], err = agentfile.Load(name, []byte(text)); err != nil {
			return nil, err
		}
	}
	return agents, nil
}

// Actions returns the actions of an agent in the workspace. Their programs run in real time.
func (w *Workspace) Actions(a *agentfile.Agent) (action.Set, error) {
	gate := action.Gate{Approval: w.approval, Ask: react.ApproveBy(w.Person)}
	set, err := action.New(a, action.Options{Workspace: w.Folder, Gate: gate, Servers: true})
	if err != nil {
		return nil, err
	}
	return w.servers.Actions(a, set, gate)
}

// RecordFiles emits each file of the workspace, so that a scenario can check it.
func (w *Workspace) RecordFiles(sink event.Sink) error {
	return drive.RecordFiles(w.Folder, sink.Emit)
}

// person answers questions from a list. It is not safe for concurrent use.
type person struct{ answers []string }

// Ask implements react.Person.
func (p *person) Ask(context.Context, string, string) (string, bool) {
	if len(p.answers) == 0 {
		return "", false
	}
	answer := p.answers[0]
	p.answers = p.answers[1:]
	return answer, true
}
