package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
)

// Caller makes calls. Backend and Clock are required.
type Caller struct {
	Backend llm.Backend
	// ID is the name of the backend in errors.
	ID    string
	Clock clock.Clock
	// CallTimeout limits each call; 0: unlimited.
	CallTimeout time.Duration
	// IdleTimeout limits the time without an event of the backend within a call; 0: unlimited. A backend
	// without events has that time for its answer.
	IdleTimeout time.Duration
	// Budgets limit the calls; a nil budget has no caps.
	Budgets []*llm.Budget
}

// each calls ask with each budget and returns the first error, or nil.
func (c Caller) each(ask func(*llm.Budget) error) *llm.BudgetError {
	for _, b := range c.Budgets {
		if e, ok := errors.AsType[*llm.BudgetError](ask(b)); ok {
			return e
		}
	}
	return nil
}

// Complete makes one call, for which Run.Reserve was called, and adds its usage to the budgets. A call
// that exceeds CallTimeout or IdleTimeout fails with llm.Timeout.
func (c Caller) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	within := ctx
	if c.CallTimeout > 0 {
		timed, cancel := c.Clock.WithTimeout(ctx, c.CallTimeout)
		defer cancel()
		within = timed
	}
	if c.IdleTimeout > 0 {
		watched, stop := watch(within, c.Clock, c.IdleTimeout, &req)
		defer stop()
		within = watched
	}
	reply, err := complete(within, c.Backend, req)
	if err != nil && clock.Err(ctx) == nil && clock.Err(within) != nil {
		err = c.timedOut(err, clock.Err(within))
	}
	c.Account(req.Model, reply, err)
	return reply, err
}

// complete calls the backend and converts a panic into an error.
func complete(ctx context.Context, b llm.Backend, req llm.Request) (reply llm.Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			// Not in the message, which must be the same when the run is repeated.
			err = &llm.Error{Kind: llm.Failed, Message: fmt.Sprintf("panic: %v", p), Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	return b.Complete(ctx, req)
}

// timedOut returns the error of a call that exceeded CallTimeout or IdleTimeout, with the partial answer.
func (c Caller) timedOut(err, cause error) error {
	late := llm.Error{
		Kind: llm.Timeout, Backend: c.ID, Err: err,
		Message: fmt.Sprintf("no answer within %s (call_timeout)", c.CallTimeout),
	}
	if _, idle := cause.(idleError); idle { //nolint:errorlint // the cause itself
		late.Message = fmt.Sprintf("no event for %s (idle_timeout)", c.IdleTimeout)
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		late.Partial, late.Usage, late.Retries = e.Partial, e.Usage, e.Retries
	}
	return &late
}

// Account adds the usage of a call to the budgets. A failed call without reported usage counts as an
// unknown amount if part of an answer had arrived, and otherwise as nothing, because providers only
// bill calls that they began to answer. A failed call that used no tokens counts as nothing, whatever its price.
func (c Caller) Account(model string, reply llm.Reply, err error) {
	model, usage := cmp.Or(reply.Model, model), reply.Usage
	if err != nil {
		failure, ok := errors.AsType[*llm.Error](err)
		if !ok || failure.Partial == "" && (failure.Usage == nil || failure.Usage.Total() == 0) {
			return
		}
		usage = failure.Usage
	}
	for _, b := range c.Budgets {
		b.Add(model, usage, reply.ReportedUSD)
	}
}
