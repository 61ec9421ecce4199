// Package kind adapts the agents of agents/react to the harness. Other kinds use its workspaces.
package kind

import (
	"cmp"
	"context"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	stop "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	scripted "github.com/rehearse-dev/rehearse/mocks/mcp"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options are the keys under drive.react: those of react.Options, the agent, its task and workspace.
type Options struct {
	react.Options `yaml:",inline"`
	// Agent is the name of the agent file; default: that of Example.
	Agent string `yaml:"agent,omitempty" json:"agent,omitempty"`
	// Task is the task of the agent; default: that of Example.
	Task             react.Task `yaml:"task,omitempty" json:"task,omitzero"`
	WorkspaceOptions `yaml:",inline"`
	// Answers are the answers to escalations and obstacles, in order; with each of them the run goes on.
	Answers []string `yaml:"answers,omitempty" json:"answers,omitempty"`
	// InterruptAfter is the time when the user presses Ctrl-C, on the clock of the trial.
	InterruptAfter quantity.Duration `yaml:"interrupt_after,omitempty" json:"interrupt_after,omitempty"`
}

// Kind returns the kind "react".
func Kind() kind.Kind {
	var statuses []string
	for _, s := range react.Statuses() {
		statuses = append(statuses, string(s.Status))
	}
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "react", Title: "a ReAct agent", Statuses: statuses, MCP: []string{scripted.HTTP},
			Options:  func() any { return new(Options) },
			Complete: func(c *scenarios.Checker, opts any, _ *scenarios.Scenario) { opts.(*Options).Digest(c) },
			Check:    func(c *scenarios.Checker, opts any) { opts.(*Options).check(c) },
		},
		Extensions: []measure.Extension{Extension(), stop.Extension()},
		Invariants: invariants(),
		New:        newDriver,
	}
}

func (o *Options) check(c *scenarios.Checker) {
	const at = "drive.react"
	o.Check(c, at)
	switch {
	case o.Agent != "":
		o.CheckAgent(c, at+".agent", o.Agent)
	case o.Example == "":
		c.Add(at, "", "no agent is named; write agent: and its file under agents:, or example: with one of %s",
			strings.Join(fixtures.Agents(), ", "))
	}
}

// agent is an agent under test with its task.
type agent struct {
	opts  Options
	task  react.Task
	agent *agentfile.Agent
	// agents are all agents of the scenario by id, to delegate to.
	agents map[string]*agentfile.Agent
}

func newDriver(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
	a := &agent{opts: *sc.Drive.Options.(*Options)}
	a.task = a.opts.Task
	if a.opts.Example != "" && a.task.Do == "" && a.task.Input == nil {
		var err error
		if a.task, err = exampleTask(a.opts.Example); err != nil {
			return nil, err
		}
	}
	a.opts.Agent = cmp.Or(a.opts.Agent, a.opts.Example+agentfile.Suffix)
	files, err := a.opts.load()
	if err != nil {
		return nil, err
	}
	a.agent, a.agents = files[a.opts.Agent], make(map[string]*agentfile.Agent, len(files))
	for _, file := range files {
		a.agents[file.ID] = file
	}
	limits := a.opts.WithDefaults()
	limits.MaxIterations = cmp.Or(limits.MaxIterations, a.agent.MaxIterations)
	return drive.NewAgent(sc, env, drive.Agent{
		Limits: struct {
			react.Options
			Agent string `json:"agent"`
		}{limits, a.opts.Agent},
		InterruptAfter: a.opts.InterruptAfter,
		Points: func(p *drive.Points) {
			p.Timeouts = drive.Timeouts(map[string]quantity.Duration{
				"timeout": a.opts.Timeout, "call_timeout": cmp.Or(a.opts.CallTimeout, quantity.Duration(react.DefaultCallTimeout)),
			})
		},
		Run: a.run,
	})
}

// answer returns the answers to escalations, or nil if there are none.
func (a *agent) answer() func(context.Context, string) (string, bool) {
	if len(a.opts.Answers) == 0 {
		return nil
	}
	p := &person{answers: a.opts.Answers}
	return func(ctx context.Context, question string) (string, bool) { return p.Ask(ctx, question, "") }
}

func (a *agent) run(ctx context.Context, t *drive.Trial) record.End {
	s, err := a.opts.Open(t)
	if err != nil {
		return drive.Failed("create the workspace", err)
	}
	result := react.Run(ctx, a.agent, a.task, a.opts.Options, react.Deps{
		Backend:   t.Backend,
		BackendID: t.BackendID,
		Clock:     t.Clock,
		Sink:      t.Sink,
		Actions:   s.Actions,
		Agents:    a.agents,
		Person:    s.Person,
		Price:     t.Price,
		EURPerUSD: t.EURPerUSD,
		Answer:    a.answer(),
	})
	if err := s.RecordFiles(t.Sink); err != nil {
		return drive.Failed("list the files of the workspace", err)
	}
	return record.End{
		Status:     string(result.Status),
		ExitCode:   result.ExitCode,
		Iterations: result.Iterations,
		Duration:   result.Duration,
		Text:       result.Output,
		Summary:    cmp.Or(result.Question, strings.Join(result.Missing, "; ")),
		Details:    result.Details,
	}
}
