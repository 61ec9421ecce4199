// Package work provides the workers and probes of a plan. A worker is a runner loop, a ReAct agent or
// a command. A probe answers a check with the exit status of a command, a list of todos, or markers of
// unfinished work in files.
package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Deps are the dependencies of workers. Loops and agents require Backend; commands and agents
// require Folder.
type Deps struct {
	Backend llm.Backend
	// BackendID names the backend in errors.
	BackendID string
	// Conversational is true if the backend needs the whole conversation; see loop.Deps.
	Conversational bool
	// Inert is true if Backend cannot change anything, such as an API without tools or an agent with
	// read access only. Loops are inert then; ReAct agents are not, because they have actions.
	Inert bool
	// Clock is the clock of loops and agents; default: the real clock.
	Clock clock.Clock
	// Sink receives the events of loops and agents with the attribute task, except for their end,
	// which is the outcome of the attempt.
	Sink event.Sink
	// Folder is the folder of the plan, with its agent files and workspaces. Commands run in it.
	Folder string
	// Wrapper precedes the command lines of commands and of the actions and MCP servers of agents, such as a
	// sandbox. It may be nil.
	Wrapper []string
	// TakesTools reports that Backend passes llm.Request.Tools to its model: ReAct agents then write their
	// steps as tool calls, unless the plan selects an interface.
	TakesTools bool
	// Actions returns the actions of an agent; default: action.New in the workspace of the worker, with the
	// tools of the agent's MCP servers.
	Actions func(*agentfile.Agent) (action.Set, error)
	// Person answers the questions of agents, if it is set.
	Person react.Person
	// Price and EURPerUSD are for caps on cost; see llm.NewBudget.
	Price     llm.Pricer
	EURPerUSD float64
	// Currency is that of the costs of attempts; default: USD.
	Currency quantity.Currency
	// Budget is shared by all workers.
	Budget *llm.Budget
	// ChildClock is the clock of the commands of ReAct agents, which run in real time; default: the
	// real clock.
	ChildClock clock.Clock
}

// Build returns the workers of a plan by name, including "default". The error lists all problems, such
// as invalid agent files.
func Build(p plan.Plan, d Deps) (map[string]persist.Worker, error) {
	d.Clock = cmp.Or(d.Clock, clock.Real())
	d.ChildClock = cmp.Or(d.ChildClock, clock.Real())
	d.Sink = cmp.Or(d.Sink, event.Discard)
	names := slices.Collect(maps.Keys(p.Workers))
	if !slices.Contains(names, plan.DefaultWorker) {
		names = append(names, plan.DefaultWorker)
	}
	slices.Sort(names)
	workers := make(map[string]persist.Worker, len(names))
	var problems []error
	for _, name := range names {
		spec, _ := p.Worker(name)
		w, err := build(spec, p, d)
		if err != nil {
			problems = append(problems, fmt.Errorf("worker %s: %w", name, err))
			continue
		}
		workers[name] = guarded{w}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return workers, nil
}

func build(spec plan.Worker, p plan.Plan, d Deps) (persist.Worker, error) {
	if len(spec.Command) > 0 {
		return &command{argv: spec.Command, env: spec.Env, folder: d.Folder, wrapper: d.Wrapper}, nil
	}
	if d.Backend == nil {
		return nil, errors.New("no backend is given")
	}
	switch {
	case spec.Loop != nil:
		return &looper{options: *spec.Loop, language: p.Language(), caps: p.Limits.Budget, dep: d}, nil
	case spec.React != nil:
		return newReacter(*spec.React, d)
	}
	return nil, errors.New("the worker needs one of loop, react, command")
}

// guarded recovers from a panic of its worker, and does not begin an attempt after the end of ctx.
type guarded struct{ worker persist.Worker }

// Work implements persist.Worker.
func (g guarded) Work(ctx context.Context, a persist.Assignment) (out persist.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = persist.Outcome{Grade: persist.Failed, Details: fmt.Sprintf("the worker failed: panic: %v", p)}
		}
	}()
	if err := clock.Err(ctx); err != nil {
		return ended(err, "")
	}
	return g.worker.Work(ctx, a)
}

// ended returns the outcome of an attempt that was ended from outside, with a note for the next one.
func ended(cause error, carry string) persist.Outcome {
	if errors.Is(cause, persist.ErrSegment) {
		return persist.Outcome{Grade: persist.Split, Details: cause.Error(), Carry: carry}
	}
	return persist.Outcome{Grade: persist.Failed, Details: "ended: " + cause.Error(), Carry: carry}
}

// fatal are the kinds of backend errors that are permanent.
var fatal = []llm.ErrorKind{llm.Unauthorized, llm.InvalidRequest, llm.Refused, llm.ScriptExhausted, llm.UnexpectedCall}

// temporary are the kinds of errors of a backend that is down or limits the rate.
var temporary = []llm.ErrorKind{llm.Unavailable, llm.RateLimited, llm.Timeout}

// failed returns the outcome of an attempt that ended with an error.
func failed(err error, details, carry string) persist.Outcome {
	grade := persist.Failed
	if slices.Contains(fatal, llm.KindOf(err)) || errors.Is(err, react.ErrTask) || errors.Is(err, react.ErrAgent) {
		grade = persist.Blocked
	}
	return persist.Outcome{Grade: grade, Later: slices.Contains(temporary, llm.KindOf(err)), Details: details, Carry: carry}
}

// resolved returns the settings of an attempt. A failed call ends it unless the plan gives other limits,
// because the supervisor repeats attempts, and its watchdog limits the time without an event. Its contract
// has the language of the plan, as the other words of the prompt do.
func resolved(o loop.Options, prompt string, in loop.Language) (loop.Settings, error) {
	o.Prompt = prompt
	return loop.Resolve(loop.FailFast(o), loop.Options{Language: in})
}
