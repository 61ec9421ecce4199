package run

import (
	"context"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
)

// idleError is the cause for ending a call without events. For backends it is a deadline.
type idleError struct{}

// Error implements error.
func (idleError) Error() string { return "no event for too long" }

// Is implements the interface of errors.Is.
func (idleError) Is(target error) bool { return target == context.DeadlineExceeded }

// idleWatch ends a call without events. One timer is armed at a time; events only note their time.
type idleWatch struct {
	clock clock.Clock
	limit time.Duration
	end   context.CancelCauseFunc

	mu   sync.Mutex
	last time.Time // of the last event
	stop func()
}

// watch returns a context that ends with idleError after limit without an event of req. The caller must
// call stop.
func watch(ctx context.Context, on clock.Clock, limit time.Duration, req *llm.Request) (within context.Context, stop func()) {
	within, cancel := context.WithCancelCause(ctx)
	w := &idleWatch{clock: on, limit: limit, end: cancel, last: on.Now()}
	onText, onActivity := req.OnText, req.OnActivity
	if onText != nil { // a request without it may be retried differently
		req.OnText = func(delta string) {
			w.event()
			onText(delta)
		}
	}
	req.OnActivity = func(tool string) {
		w.event()
		if onActivity != nil {
			onActivity(tool)
		}
	}
	w.arm(limit)
	return within, func() {
		w.mu.Lock()
		w.stop()
		w.mu.Unlock()
		cancel(nil)
	}
}

func (w *idleWatch) event() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = w.clock.Now()
}

func (w *idleWatch) arm(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop = w.clock.AfterFunc(d, w.fire)
}

// fire ends the call, or waits for the rest of the limit after the last event.
func (w *idleWatch) fire() {
	w.mu.Lock()
	left := w.limit - w.clock.Now().Sub(w.last)
	w.mu.Unlock()
	if left > 0 {
		w.arm(left)
		return
	}
	w.end(idleError{})
}
