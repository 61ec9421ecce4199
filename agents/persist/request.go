package persist

import (
	"errors"
	"fmt"
	"maps"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// Request is a change of a running plan that another process asks for: an answer or an amendment.
type Request struct {
	// Task and Text are a person's answer to a task; see Answer. Task is empty for an amendment.
	Task, Text string
	// Plan replaces the plan; see PrepareAmendment. Workers, Probes and Accept replace those of Deps.
	Plan    plan.Plan
	Workers map[string]Worker
	Probes  map[plan.Check]Probe
	Accept  map[string][]Probe
	// Done is called after the request, with nil if it was recorded.
	Done func(err error)
}

// errAmended ends a parallel attempt at a task that an amendment changed.
var errAmended = errors.New("the plan was amended")

// takeRequests records the requests of other processes, unless an attempt is in progress in the plan's folder.
// The caller holds the lock, which is released while the requests are read.
func (r *supervisor) takeRequests() *ending {
	if r.Requests == nil || r.state.Running >= 0 || r.state.End != nil {
		return nil
	}
	r.mu.Unlock()
	requests := r.Requests()
	r.mu.Lock()
	for i, q := range requests {
		refused, broken := r.take(q)
		if broken == nil {
			q.Done(refused)
			continue
		}
		for _, q := range requests[i:] {
			q.Done(broken)
		}
		return r.saveFailure(broken)
	}
	return nil
}

// take records a request. It returns the reason why it is refused, or the error of the store.
func (r *supervisor) take(q Request) (refused, broken error) {
	if q.Task == "" {
		return r.amend(q)
	}
	if err := answerable(r.state, q.Task, q.Text); err != nil {
		return fmt.Errorf("answer the task %q: %w: %w", q.Task, ErrRefused, err), nil
	}
	if err := r.put(state.Record{Kind: state.KindAnswer, Task: q.Task, Text: q.Text}); err != nil {
		return nil, err
	}
	if err := r.flush(); err != nil {
		return nil, err
	}
	t, _ := r.state.ByID(q.Task)
	r.emit(t.Attempts, "", Answered{Task: q.Task})
	return nil, nil
}

// amend replaces the plan.
func (r *supervisor) amend(q Request) (refused, broken error) {
	print, err := fingerprintOf(q.Plan)
	if err != nil {
		return err, nil
	}
	if print.digest() == r.state.Plan {
		return fmt.Errorf("amend the plan: %w", ErrUnchanged), nil
	}
	deps := r.Deps
	deps.Workers, deps.Probes, deps.Accept = q.Workers, q.Probes, q.Accept
	if err := deps.validate(q.Plan); err != nil {
		return fmt.Errorf("amend the plan: %w: %w", ErrRefused, err), nil
	}
	if err := r.flush(); err != nil {
		return nil, err
	}
	a, err := amendment(r.print, print, r.state, q.Plan)
	if err != nil {
		return err, nil
	}
	if err := r.replacePlan(q.Plan, print, a.record); err != nil {
		return nil, err
	}
	r.Deps, r.plan, r.words, r.limits, r.print = deps, q.Plan, phrasesOf(q.Plan), q.Plan.Limits.WithDefaults(), print
	clear(r.forks.places) // they have the workers of the earlier plan
	for id, live := range r.forks.live {
		if _, parallel := r.state.AttemptOf(id); !parallel {
			live.cancel(errAmended)
		}
	}
	r.emit(0, "", Amended{
		Added: len(a.Changes.Added), Changed: len(a.Changes.Changed), Removed: len(a.Changes.Removed), Tasks: len(q.Plan.Tasks),
	})
	return nil, nil
}

// replacePlan writes an amendment, and continues with its state.
func (r *supervisor) replacePlan(p plan.Plan, print fingerprint, record state.Record) error {
	record.At = r.now()
	next, err := state.New(p)
	if err != nil {
		return err
	}
	if err := next.Apply(record); err != nil {
		return err
	}
	written, err := next.Clone()
	if err != nil {
		return err
	}
	data, err := record.Encode()
	if err != nil {
		return err
	}
	if err := r.Store.Append(data); err != nil {
		return err
	}
	r.state, r.written = next, written
	maps.DeleteFunc(r.forks.killed, func(id string, _ bool) bool {
		_, known := next.ByID(id)
		return !known
	})
	return savePrint(r.Store, print)
}
