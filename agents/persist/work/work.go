// Package work has the workers of a supervisor: a runner loop, a ReAct agent and a
// command, each of which does one attempt at a task and grades it.
package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// Deps are what workers are given. Backend is required where a loop or an agent
// works, and Folder where a command or an agent does.
type Deps struct {
	Backend llm.Backend
	// BackendID names the backend in errors.
	BackendID string
	// Conversational says that the backend must be sent everything said so far; see
	// loop.Deps.
	Conversational bool
	// Inert says that Backend has no tools with which it could change anything: an API
	// that only answers, or an agent that may only read. Loops over it are inert then;
	// a ReAct agent is not, as its actions are done for it.
	Inert bool
	// Clock is the time of loops and agents; default: the machine's.
	Clock clock.Clock
	// Sink is told what loops and agents tell, with the attribute task, but for their
	// end, which is the attempt's outcome; default: nobody.
	Sink event.Sink
	// Folder is the plan's: commands run in it, and agent files and workspaces are in
	// it.
	Folder string
	// Actions do what an agent asks for; default: package action, in the worker's
	// workspace.
	Actions func(*agentfile.Agent) (action.Set, error)
	// Person answers agents' questions; nil: nobody does.
	Person react.Person
	// Price and EURPerUSD serve caps on cost; see llm.NewBudget.
	Price     llm.Pricer
	EURPerUSD float64
	// Budget is what all workers share.
	Budget *llm.Budget
	// ChildClock is the time of the commands of ReAct agents, which live in real time;
	// default: the machine's.
	ChildClock clock.Clock
}

// Build makes the workers of a plan, by name, "default" included. The error names
// everything that keeps a worker from working: an agent file that cannot be read or
// is not valid, with the places of what is wrong.
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
		w, err := build(spec, p.Limits.Budget, d)
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

// build makes one worker. Caps are those of the whole run.
func build(spec plan.Worker, caps llm.Caps, d Deps) (persist.Worker, error) {
	if len(spec.Command) > 0 {
		return &command{argv: spec.Command, env: spec.Env, folder: d.Folder}, nil
	}
	if d.Backend == nil {
		return nil, errors.New("no backend is given")
	}
	switch {
	case spec.Loop != nil:
		return &looper{options: *spec.Loop, caps: caps, dep: d}, nil
	case spec.React != nil:
		return newReacter(*spec.React, d)
	}
	return nil, errors.New("the plan does not say what it is; give one of loop, react, command")
}

// guarded keeps a panic from getting through, and does not begin when the attempt
// is over already.
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

// ended returns the outcome of an attempt that was ended from outside, with what the
// next one should know.
func ended(cause error, carry string) persist.Outcome {
	if errors.Is(cause, persist.ErrSegment) {
		return persist.Outcome{Grade: persist.Split, Details: cause.Error(), Carry: carry}
	}
	return persist.Outcome{Grade: persist.Failed, Details: "ended: " + cause.Error(), Carry: carry}
}

// fatal are the kinds of backend errors that the same request meets again.
var fatal = []llm.ErrorKind{llm.Unauthorized, llm.InvalidRequest, llm.Refused, llm.ScriptExhausted, llm.UnexpectedCall}

// passing are those of a backend that is down for a while, or asked too often.
var passing = []llm.ErrorKind{llm.Unavailable, llm.RateLimited, llm.Timeout}

// failed returns the outcome of an attempt that an error ended.
func failed(err error, details, carry string) persist.Outcome {
	grade := persist.Failed
	if slices.Contains(fatal, llm.KindOf(err)) || errors.Is(err, react.ErrTask) || errors.Is(err, react.ErrAgent) {
		grade = persist.Blocked
	}
	return persist.Outcome{Grade: grade, Later: slices.Contains(passing, llm.KindOf(err)), Details: details, Carry: carry}
}

// resolved returns the settings of an attempt. What bounds its time is the task's
// timeout and the supervisor's watchdog, so that the loop's own is off unless the
// plan gives one.
//
// Where a user writes a loop's prompt, the user says how to end; here nobody else
// would.
func resolved(o loop.Options, prompt string) (loop.Settings, error) {
	o.Prompt = prompt
	s, err := loop.Resolve(o, loop.Options{Timeout: new(quantity.Duration)})
	s.Prompt = strings.TrimRight(s.Prompt, "\n") + "\n\n" + s.HowToEnd()
	return s, err
}
