package drive

import (
	"cmp"
	"context"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// reactDriver runs an agent of agents/react on a stage.
type reactDriver struct {
	base
	drive scenarios.ReactDrive
	task  react.Task
	agent *agentfile.Agent
	// agents are all on the stage, by the ids that they are delegated to by.
	agents map[string]*agentfile.Agent
}

func newReactDriver(sc scenarios.Scenario, env *Env) (*reactDriver, error) {
	d := &reactDriver{drive: *sc.Drive.React}
	d.task = d.drive.Task
	if d.drive.Example != "" && d.task.Do == "" && d.task.Input == nil {
		var err error
		if d.task, err = scenarios.ExampleTask(d.drive.Example); err != nil {
			return nil, err
		}
	}
	d.drive.Agent = cmp.Or(d.drive.Agent, scenarios.ExampleAgent(d.drive.Example))
	files, err := stageAgents(&d.drive.Stage)
	if err != nil {
		return nil, err
	}
	d.agent, d.agents = files[d.drive.Agent], make(map[string]*agentfile.Agent, len(files))
	for _, a := range files {
		d.agents[a.ID] = a
	}
	if d.base, err = newBase(sc, "react", env); err != nil {
		return nil, err
	}
	d.head.Limits, err = describe(struct {
		react.Options
		Agent string `json:"agent"`
	}{d.drive.Options, d.drive.Agent})
	return d, err
}

// Points implements Driver.
func (d *reactDriver) Points() Points {
	p := d.base.Points()
	p.Timeouts = timeouts(map[string]quantity.Duration{"timeout": d.drive.Timeout, "call_timeout": cmp.Or(d.drive.CallTimeout, quantity.Duration(react.DefaultCallTimeout))})
	return p
}

// Perturbed implements Driver.
func (d *reactDriver) Perturbed(ps []perturb.Perturbation) (Driver, error) {
	return d.depart(d, ps, func(b base) Driver {
		other := *d
		other.base = b
		return &other
	})
}

func (d *reactDriver) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	return d.trial(ctx, n, d.drive.InterruptAfter, d.run)
}

func (d *reactDriver) run(ctx context.Context, t *trial, backend llm.Adapter) record.End {
	s, err := newStage(&d.drive.Stage, t)
	if err != nil {
		return harnessError("set the stage", err)
	}
	result := react.Run(ctx, d.agent, d.task, d.drive.Options, react.Deps{
		Backend:   t.collector.Wrap(backend),
		BackendID: backend.ID(),
		Clock:     t.clock,
		Sink:      t.collector,
		Actions:   s.actions,
		Agents:    d.agents,
		Person:    s.person,
		Price:     d.pricer,
		EURPerUSD: d.rate,
	})
	if err := s.left(t.collector); err != nil {
		return harnessError("look at the stage", err)
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

// actions are those of an agent on the stage. Without a clock of the trial's:
// programs live in real time.
func (s *stage) actions(a *agentfile.Agent) (action.Set, error) {
	return action.New(a, action.Options{Workspace: s.folder})
}
