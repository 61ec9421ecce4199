package loop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// maxBackoff is the longest wait after a failed call. A backend that asks for more is at a usage limit.
const maxBackoff = 5 * time.Minute

// lasting are the kinds of errors that a repetition cannot mend.
var lasting = []llm.ErrorKind{llm.Unauthorized, llm.InvalidRequest, llm.ScriptExhausted, llm.UnexpectedCall}

// backoff returns the wait after a number of failed calls in a row: base, doubled with each, or the wait
// that the backend asks for if that is longer.
func backoff(base time.Duration, failed int, asked time.Duration) time.Duration {
	if failed == 0 || base <= 0 {
		return 0
	}
	wait := base
	for range failed - 1 {
		wait = min(2*wait, maxBackoff)
	}
	return min(max(wait, asked), max(base, maxBackoff))
}

// limitedUntil returns the time at which a usage limit ends, or zero if err is another error, the time is
// unknown, or it has passed.
func limitedUntil(err error, now time.Time) time.Time {
	e, ok := errors.AsType[*llm.Error](err)
	switch {
	case !ok || e.Kind != llm.RateLimited:
	case e.ResetAt.After(now):
		return e.ResetAt
	case e.RetryAfter > maxBackoff:
		return now.Add(e.RetryAfter)
	}
	return time.Time{}
}

// noReset returns the part of a message about err that explains why a usage limit was not waited for: the
// backend does not report its end. It is empty for other errors.
func noReset(err error, waits bool) string {
	e, ok := errors.AsType[*llm.Error](err)
	switch {
	case !ok || e.Kind != llm.RateLimited || !e.ResetAt.IsZero() || e.RetryAfter > 0:
		return ""
	case waits:
		return "; when the limit ends is unknown, as the backend does not report it, so wait_for_limits cannot wait for it"
	}
	return "; when the limit ends is unknown, as the backend does not report it"
}

// judgeLimit decides about a call that failed at a usage limit. It returns handled if the call is not a
// failure.
func (r *runner) judgeLimit(n int, err error) (end *run.Ending, handled bool) {
	until := limitedUntil(err, r.dep.Clock.Now())
	if until.IsZero() {
		return nil, false
	}
	late := r.set.Timeout > 0 && until.Sub(r.Began) > r.set.Timeout.Std()
	if r.set.WaitForLimits && !late {
		r.until = until
		r.dep.Sink.Emit(event.Event{Kind: event.State, Name: "limit", N: n, Detail: "waiting for the end of a usage limit at " + atTime(until)})
		return nil, true
	}
	r.result.LimitedUntil = until
	hint := "wait_for_limits waits for it"
	if late {
		hint = "that is after the timeout " + r.set.Timeout.String()
	}
	return &run.Ending{
		Status: StatusLimited, Err: err,
		Details: fmt.Sprintf("stopped at a usage limit until %s (%s): %s", atTime(until), hint, err),
	}, true
}

// atTime returns a time to the minute.
func atTime(t time.Time) string { return t.Format("2006-01-02 15:04 MST") }

// pause waits after a failed call, or until a usage limit ends.
func (r *runner) pause(n int) *run.Ending {
	wait := backoff(r.set.Backoff.Std(), r.failed, r.asked)
	why := "waiting after a failed call"
	switch {
	case !r.until.IsZero():
		wait, why = r.until.Sub(r.dep.Clock.Now()), "waiting for the usage limit"
		r.until = time.Time{}
	case wait > 0 && r.breaker.current() == breakerClosed:
		r.dep.Sink.Emit(event.Event{Kind: event.State, Name: "backoff", N: n, Detail: fmt.Sprintf("waiting %s after a failed call", wait)})
	default:
		return nil
	}
	return r.wait(wait, why)
}

// wait sleeps in short steps, because the clock of a machine that is suspended may stand still, and
// reports the rest of the time.
func (r *runner) wait(d time.Duration, why string) *run.Ending {
	for until := r.dep.Clock.Now().Add(d); ; {
		left := max(0, until.Sub(r.dep.Clock.Now()))
		if r.dep.OnWait != nil {
			r.dep.OnWait(why, left)
		}
		if left == 0 {
			return r.Over()
		}
		if err := r.dep.Clock.Sleep(r.Context, min(left, max(time.Second, left/60))); err != nil {
			return cmp.Or(r.Over(), &run.Ending{Status: StatusError, Details: why + ": " + err.Error(), Err: err})
		}
	}
}

// leftUSD returns the cost in USD that the cap on cost leaves for the next call; 0 if there is no cap.
func (r *runner) leftUSD() float64 {
	if r.set.Budget.Cost.IsZero() {
		return 0
	}
	return r.Budgets[0].LeftUSD()
}

// hopeless reports whether a repetition of the call cannot succeed.
func hopeless(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Lasting || slices.Contains(lasting, llm.KindOf(err))
}
