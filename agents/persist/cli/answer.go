package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/redact"
)

// Answer records an answer to a task of the plan without its secrets. If it returns an error, nothing was
// recorded.
func (j *Job) Answer(task, text string, r *redact.Redactor) (to Recorded, err error) {
	store, err := j.openBegun()
	if errors.Is(err, journal.ErrBusy) {
		return j.ask(request{Task: task, Text: r.Text(text)})
	}
	if err != nil {
		return Stored, fmt.Errorf("answer the task %q: %w", task, err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	err = persist.Answer(j.Plan, store, task, r.Text(text))
	return Stored, j.explain(err)
}

// openBegun opens and locks the state of a plan that has begun.
func (j *Job) openBegun() (*journal.Disk, error) {
	view, err := journal.View(j.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the plan has not begun: there is no state in %s", j.State)
	}
	if err != nil {
		return nil, stateError(err)
	}
	if err := view.Close(); err != nil {
		return nil, stateError(err)
	}
	return j.openState(false, nil)
}

// explain returns an error of a change of the state with a hint.
func (j *Job) explain(err error) error {
	if changed, ok := errors.AsType[*persist.PlanChanged](err); ok {
		return j.explainChange(changed)
	}
	if err == nil || errors.Is(err, persist.ErrRefused) {
		return err
	}
	return stateError(err)
}

// ask returns the function that asks a person about an escalated task; nil without a person.
func (g redacting) ask(p react.Person) func(context.Context, string, string) (string, bool) {
	if p == nil {
		return nil
	}
	return func(ctx context.Context, task, question string) (string, bool) {
		answer, ok := p.Ask(ctx, question, "The answer goes to the next attempt at the task "+task+".")
		if len(answer) > state.MaxAnswer {
			g.view.Print(fmt.Sprintf("         the answer has %d bytes; the middle beyond %d is cut", len(answer), state.MaxAnswer))
		}
		return g.redact.Text(answer), ok
	}
}
