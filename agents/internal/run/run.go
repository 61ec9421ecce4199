// Package run has the common parts of the runs of agents: statuses, limits (interrupt, budget, time),
// calls to a backend, the detection of repetitions, and transcripts.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Ending is the reason why a run ends. Functions return nil if it continues.
type Ending struct {
	Status  Status
	Guard   string // the option whose limit was reached, if one was
	Details string // for a person
	Err     error
}

// Failed returns the ending of a run by an error.
func Failed(err error) *Ending { return &Ending{Status: Error, Details: err.Error(), Err: err} }

// Panicked returns the ending of a run by a panic. The stack is not part of the details,
// which must be the same when the run is repeated.
func Panicked(p any) *Ending {
	return &Ending{Status: Error, Details: fmt.Sprintf("panic: %v", p), Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
}

// Overspent returns the ending of a run whose budget reached a cap, such as "calls".
func Overspent(limit string, err error) *Ending {
	option := "budget." + strings.TrimPrefix(limit, "budget.")
	return &Ending{Status: Budget, Guard: option, Details: fmt.Sprintf("stopped: %v (%s)", err, option), Err: err}
}

// Event returns the event that reports the end, after n iterations.
func (e *Ending) Event(n int) event.Event {
	return event.New(n, e.Details, ended{e.Status, e.Status.ExitCode()})
}

// ended is the event of a run's end.
type ended struct {
	status   Status
	ExitCode int `json:"exit_code"`
}

// Event implements event.Payload.
func (e ended) Event() (event.Kind, string) { return event.End, string(e.status) }

// Run has the limits of a run. Outer ends with an interrupt of the user or at the deadline of the
// caller, Context also after Timeout.
type Run struct {
	Caller
	Outer, Context context.Context
	Timeout        quantity.Duration // 0: unlimited
	Began          time.Time
}

// New returns a run that begins now. The caller must call Enter before the first call.
func New(c Caller, timeout quantity.Duration) Run {
	return Run{Caller: c, Timeout: timeout, Began: c.Clock.Now()}
}

// Enter sets the contexts of a run, whose time began at Began. The caller must call leave.
func (r *Run) Enter(ctx context.Context) (leave context.CancelFunc) {
	r.Outer, r.Context = ctx, ctx
	if r.Timeout <= 0 {
		return func() {}
	}
	r.Context, leave = r.Clock.WithTimeout(ctx, r.Timeout.Std()-r.Elapsed())
	return leave
}

// Elapsed returns the time since the run began.
func (r *Run) Elapsed() time.Duration { return r.Clock.Now().Sub(r.Began) }

// Limits returns the ending of a run that was interrupted, spent its budget, or used up
// its time, in this order of precedence.
func (r *Run) Limits() *Ending { return cmp.Or(r.interrupted(), r.overspent(), r.Over()) }

// Over returns the ending of a run that was interrupted or used up its time.
func (r *Run) Over() *Ending { return cmp.Or(r.interrupted(), r.late()) }

// Reserve counts one call in each budget, or returns the ending by the first cap that is
// already reached.
func (r *Run) Reserve() *Ending {
	if e := r.each((*llm.Budget).Reserve); e != nil {
		return Overspent(e.Cap, e)
	}
	return nil
}

func (r *Run) overspent() *Ending {
	if e := r.each((*llm.Budget).Check); e != nil {
		return Overspent(e.Cap, e)
	}
	return nil
}

// interrupted returns the ending by the user, not by a deadline of the caller.
func (r *Run) interrupted() *Ending {
	err := clock.Err(r.Outer)
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return &Ending{Status: Interrupted, Details: "interrupted: " + err.Error(), Err: err}
}

func (r *Run) late() *Ending {
	err := clock.Err(r.Context)
	switch {
	case err == nil:
		return nil
	case clock.Err(r.Outer) != nil:
		return &Ending{Status: Timeout, Details: "stopped at the caller's deadline", Err: err}
	}
	// The time that passed is not part of the text: on a real clock it differs from run to run.
	return &Ending{Status: Timeout, Guard: "timeout", Details: fmt.Sprintf("stopped as the time was up (timeout %s)", r.Timeout), Err: err}
}
