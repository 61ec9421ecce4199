package react

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// The reasons why a run cannot begin, wrapped in Result.Err.
var (
	ErrTask  = errors.New("the task is not valid")
	ErrAgent = errors.New("the agent cannot run")
)

// Run runs an agent on a task. It never panics: a panic of the backend is a failed call, and
// a panic of another dependency ends the run with StatusError.
//
// When ctx ends, the run ends with StatusInterrupted, or with StatusTimeout if the cause is
// context.DeadlineExceeded.
func Run(ctx context.Context, a *agentfile.Agent, t Task, o Options, d Deps) (result Result) {
	s := newSession(o, d)
	defer func() {
		if p := recover(); p != nil {
			result = s.finish(panicked(p))
		}
	}()
	if err := s.check(a); err != nil {
		return s.finish(toEnding(run.Failed(err)))
	}
	defer s.Enter(ctx)()
	r := newRunner(s, a, t, []string{a.ID})
	if o.MaxIterations > 0 {
		r.max, r.limit = o.MaxIterations, o.MaxIterations
	}
	return s.finish(r.run())
}

func panicked(p any) *ending {
	end := toEnding(run.Panicked(p))
	end.Status = statusStopped
	return end
}

// session is shared by an agent and the agents that it delegates to.
type session struct {
	run.Run
	options    Options
	deps       Deps
	transcript []*Entry
}

const (
	defaultIterations = 5
	defaultStuck      = 3
	defaultDepth      = 3
)

// WithDefaults returns the options with the defaults filled in, except for those that depend on the agent and on the
// backend: MaxIterations and Interface.
func (o Options) WithDefaults() Options {
	o.Reflection = cmp.Or(o.Reflection, Refuse)
	o.Revisions = cmp.Or(o.Revisions, 1)
	o.Stuck = cmp.Or(o.Stuck, defaultStuck)
	o.Depth = cmp.Or(o.Depth, defaultDepth)
	o.CallTimeout = cmp.Or(o.CallTimeout, quantity.Duration(DefaultCallTimeout))
	return o
}

func newSession(o Options, d Deps) *session {
	if d.Clock == nil {
		d.Clock = clock.Real()
	}
	if d.Sink == nil {
		d.Sink = event.Discard
	}
	if o.Interface == "" && d.TakesTools {
		o.Interface = ByTools
	}
	o.Interface = cmp.Or(o.Interface, ByYAML)
	o = o.WithDefaults()
	return &session{options: o, deps: d, Run: run.New(run.Caller{
		Backend: d.Backend, ID: d.BackendID, Clock: d.Clock, CallTimeout: o.CallTimeout.Std(),
		Budgets: []*llm.Budget{llm.NewBudget(o.Budget, d.Price, d.EURPerUSD), d.Shared},
	}, o.Timeout)}
}

// check returns an error if the run cannot begin.
func (s *session) check(a *agentfile.Agent) error {
	o := s.options
	switch {
	case a == nil:
		return fmt.Errorf("%w: no agent is given", ErrAgent)
	case s.deps.Backend == nil:
		return errors.New("no backend is given")
	case s.deps.Actions == nil:
		return errors.New("no actions are given")
	case o.MaxIterations < 0:
		return fmt.Errorf("max_iterations: %d is not allowed; use 1 or more, or 0 for the agent's own", o.MaxIterations)
	case o.Depth < 0:
		return fmt.Errorf("depth: %d is not allowed; use 1 or more, or 0 for %d", o.Depth, defaultDepth)
	case o.Interface != ByTools && o.Interface != ByYAML:
		return fmt.Errorf(`interface: %q is not an interface; use "tools" or "yaml"`, o.Interface)
	case o.Reflection != Refuse && o.Reflection != Flag:
		return fmt.Errorf(`reflection: %q is not a policy; use "refuse" or "flag"`, o.Reflection)
	case o.Timeout < 0 || o.CallTimeout < 0:
		return fmt.Errorf("timeout and call_timeout: %s and %s must not be negative; use 0s for the default", o.Timeout, o.CallTimeout)
	}
	return nil
}

func (s *session) finish(end *ending) Result {
	res := end.result()
	res.Transcript = make([]Entry, len(s.transcript))
	for i, e := range s.transcript {
		res.Transcript[i] = *e
	}
	res.Iterations, res.Duration = len(s.transcript), s.Elapsed()
	last := run.Ending{Status: res.Status, Details: res.Details}
	s.deps.Sink.Emit(last.Event(res.Iterations))
	return res
}
