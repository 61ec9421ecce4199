package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/agents/react/mcp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// reacter is a ReAct agent as a worker.
type reacter struct {
	agent     *agentfile.Agent
	agents    map[string]*agentfile.Agent // agents to which it may delegate
	options   react.Options
	workspace string
	dep       Deps
}

func newReacter(spec plan.React, d Deps) (*reacter, error) {
	agent, agents, err := loadAgents(d.Folder, spec.Agent)
	if err != nil {
		return nil, err
	}
	w := &reacter{
		agent: agent, agents: agents, dep: d, workspace: filepath.Join(d.Folder, filepath.FromSlash(cmp.Or(spec.Workspace, "."))),
		options: react.Options{Interface: react.Interface(spec.Interface)},
	}
	if spec.MaxIterations != nil {
		w.options.MaxIterations = *spec.MaxIterations
	}
	if d.TakesTools && w.options.Interface == "" {
		w.options.Interface = react.ByTools
	}
	return w, nil
}

// actions returns the actions of an attempt. The caller must call stop, which ends their MCP servers.
func (w *reacter) actions(ctx context.Context, person react.Person) (actions func(*agentfile.Agent) (action.Set, error), stop func()) {
	if w.dep.Actions != nil {
		return w.dep.Actions, func() {}
	}
	gate := action.Gate{Ask: react.ApproveBy(person)}
	servers := mcp.NewPool(ctx, mcp.Options{Workspace: w.workspace, Wrapper: w.dep.Wrapper, Clock: w.dep.ChildClock})
	return func(a *agentfile.Agent) (action.Set, error) {
		set, err := action.New(a, action.Options{
			Workspace: w.workspace, Gate: gate, Wrapper: w.dep.Wrapper, Servers: true, Clock: w.dep.ChildClock,
		})
		if err != nil {
			return nil, err
		}
		return servers.Actions(a, set, gate)
	}, servers.Close
}

// Work implements persist.Worker.
func (w *reacter) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	backend := newMetered(w.dep, a, nil)
	person := asked(w.dep.Person, a.Meter)
	actions, stop := w.actions(ctx, person)
	defer stop()
	r := react.Run(ctx, w.agent, react.Task{Do: a.Prompt, Input: a.Task.Input}, w.options, react.Deps{
		Backend:    backend,
		BackendID:  w.dep.BackendID,
		TakesTools: w.dep.TakesTools && w.options.Interface == react.ByTools,
		Clock:      w.dep.Clock,
		Sink:       inner(w.dep.Sink, a),
		Actions:    actions,
		Agents:     w.agents,
		Person:     person,
		Before:     func(string) error { return a.Meter.Call(1) },
		Touched:    a.Meter.Touch,
		Price:      w.dep.Price,
		EURPerUSD:  w.dep.EURPerUSD,
		Shared:     w.dep.Budget,
	})
	out := gradeAgent(r)
	out.Answer, out.Usage, out.Used = r.Output, backend.spent(), backend.ledger.used()
	return out
}

// asking pauses the attempt while a person is asked.
type asking struct {
	react.Person
	meter persist.Meter
}

// asked wraps p, unless it is nil.
func asked(p react.Person, m persist.Meter) react.Person {
	if p == nil {
		return nil
	}
	return asking{p, m}
}

// Ask implements react.Person.
func (p asking) Ask(ctx context.Context, question, about string) (string, bool) {
	defer p.meter.Pause()()
	return p.Person.Ask(ctx, question, about)
}

func gradeAgent(r react.Result) persist.Outcome {
	switch r.Status {
	case react.StatusDone:
		return persist.Outcome{Grade: persist.Done, Details: r.Details}
	case react.StatusEscalate:
		return persist.Outcome{Grade: persist.Escalated, Details: question(r)}
	case react.StatusBlocked, react.StatusDelegate:
		return persist.Outcome{Grade: persist.Blocked, Details: cmp.Or(r.Details, r.Next)}
	case react.StatusPartial:
		return persist.Outcome{
			Grade: persist.Failed, Details: cmp.Or(r.Details, "a part is done"),
			Carry: "The last attempt left this undone:\n" + list(r.Missing) + "\nIts output was:\n" + end(sanitize.Text(r.Output, 0), maxCarry),
		}
	case react.StatusBudget:
		// The agent has no budget of its own, so this is the shared one.
		return persist.Outcome{
			Grade: persist.Failed, Details: r.Details, Carry: steps(r),
			Capped: cmp.Or(strings.TrimPrefix(r.Guard, "budget."), "budget"),
		}
	case react.StatusInterrupted:
		return ended(cmp.Or(r.Err, context.Canceled), steps(r))
	case react.StatusError:
		if errors.Is(r.Err, persist.ErrSegment) {
			return ended(r.Err, steps(r))
		}
		return failed(r.Err, r.Details, steps(r))
	default:
		return persist.Outcome{Grade: persist.Failed, Details: r.Details, Carry: steps(r)}
	}
}

func question(r react.Result) string {
	text := cmp.Or(r.Question, r.Details)
	if r.Trigger == "" {
		return text
	}
	return fmt.Sprintf("%s: %s", r.Trigger, text)
}

func list(items []string) string {
	if len(items) == 0 {
		return "- it did not say what"
	}
	return "- " + strings.Join(items, "\n- ")
}

// maxSteps is the number of an agent's last iterations in the note to the next attempt.
const maxSteps = 8

// steps summarises the last iterations of an agent.
func steps(r react.Result) string {
	const most = 300
	var b strings.Builder
	for _, e := range r.Transcript[max(0, len(r.Transcript)-maxSteps):] {
		if e.Action == "" && e.Thought == "" {
			continue
		}
		fmt.Fprintf(&b, "- %s: %s; action %s", e.Agent, sanitize.Line(e.Thought, most), sanitize.Line(e.Action, most))
		if e.Observation != "" {
			fmt.Fprintf(&b, "; observation: %s", sanitize.Line(e.Observation, most))
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return ""
	}
	return "The last steps were:\n" + strings.TrimSuffix(b.String(), "\n")
}
