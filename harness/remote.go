package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Remote runs trials in other processes. It must be safe for concurrent use.
type Remote interface {
	// Trial waits for trial n, from 1, of scenario i of the set, from 0. A *LostTrialError makes the
	// trial an error and the run goes on; any other error ends the run without a verdict.
	Trial(ctx context.Context, i, n int) (record.Trial, []record.Timing, error)
}

// LostTrialError means that a trial has no result, and that running it again would not help.
type LostTrialError struct{ Reason string }

// Error implements error.
func (e *LostTrialError) Error() string { return e.Reason }

// RemoteError is an error of a Remote that ended a run.
type RemoteError struct{ Err error }

// Error implements error.
func (e *RemoteError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the Remote.
func (e *RemoteError) Unwrap() error { return e.Err }

// fetch waits for a trial that runs elsewhere.
type fetch func(ctx context.Context, n int) (record.Trial, []record.Timing, error)

// remote makes the trials of scenario i run elsewhere, unless r is nil.
func (sc *prepared) remote(r Remote, i int) {
	if r == nil {
		return
	}
	sc.fetch = func(ctx context.Context, n int) (record.Trial, []record.Timing, error) {
		trial, timings, err := r.Trial(ctx, i, n)
		if lost, ok := errors.AsType[*LostTrialError](err); ok {
			reason := sc.redact.Text(lost.Reason)
			return sc.notRun(n, record.End{Status: "error", ExitCode: 1, HarnessError: reason}), nil, nil
		}
		if err == nil && (trial.Head.Scenario != sc.head.Name || trial.Head.N != n) {
			err = fmt.Errorf("received trial %d of %s instead of trial %d of %s", trial.Head.N, trial.Head.Scenario, n, sc.head.Name)
		}
		if err != nil {
			err = &RemoteError{err}
		}
		return trial, timings, err
	}
}

// Trials runs single trials of a set: a part of a run that another process coordinates. It is safe
// for concurrent use.
type Trials struct{ plan []*prepared }

// Prepare returns the trials of a set. Of the options, Env and Language apply.
func Prepare(set []scenarios.Scenario, opts Options) (*Trials, error) {
	r := &runner{opts: opts}
	t := &Trials{plan: make([]*prepared, len(set))}
	for i, sc := range set {
		driver, err := drive.New(sc, opts.Env)
		if err == nil {
			t.plan[i], err = r.prepare(driver)
		}
		if err != nil {
			return nil, fmt.Errorf("prepare scenario %s: %w", sc.Name, err)
		}
	}
	return t, nil
}

// Run runs trial n, from 1, of scenario i of the set, from 0. The error is the cause of the end of
// ctx, or that of a record that cannot be encoded.
func (t *Trials) Run(ctx context.Context, i, n int) (Judged, error) {
	if i < 0 || i >= len(t.plan) || n < 1 || n > t.plan[i].head.Trials {
		return Judged{}, fmt.Errorf("trial %d of scenario %d is not in the plan", n, i)
	}
	r := t.plan[i].run(ctx, n)
	if r.abandoned {
		return Judged{}, context.Cause(ctx)
	}
	return r.Judged, r.err
}
