// Package clock provides real time, and a virtual time in which hours pass in microseconds and
// every run is repeatable.
package clock

import (
	"context"
	"errors"
	"math"
	"time"
)

// Clock is the only source of time for agents and the harness.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// Sleep returns nil after d, or the context's cause if the context ends earlier. It returns
	// immediately if d is not positive, and waits for the context if d is Forever.
	Sleep(ctx context.Context, d time.Duration) error
	// WithTimeout returns a context that ends with context.DeadlineExceeded
	// after d on this clock. The caller must call cancel.
	WithTimeout(parent context.Context, d time.Duration) (ctx context.Context, cancel context.CancelFunc)
	// AfterFunc calls f after d: in real time in a new goroutine, in virtual time in a
	// goroutine that sleeps. The returned function stops the timer if it has not fired.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// Forever is the duration of a Sleep that only the context ends.
const Forever time.Duration = math.MaxInt64

// ErrStalled is the error of a virtual Sleep that would never end.
var ErrStalled = errors.New("virtual clock stalled: an endless wait without a pending deadline")

// Err returns the cause of ctx's end, or nil. Use it instead of ctx.Err(), which returns
// Canceled after a virtual deadline: only the cause is DeadlineExceeded.
func Err(ctx context.Context) error { return context.Cause(ctx) }

// Real returns the clock of the machine.
func Real() Clock { return realClock{} }

type realClock struct{}

// Now implements Clock.
func (realClock) Now() time.Time { return time.Now() }

// Sleep implements Clock.
func (realClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return Err(ctx)
	}
	if d == Forever {
		<-ctx.Done()
		return Err(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return Err(ctx)
	}
}

// WithTimeout implements Clock.
func (realClock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, d)
}

// AfterFunc implements Clock.
func (realClock) AfterFunc(d time.Duration, f func()) (stop func()) {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}
