// Package clock gives agents their time: the machine's, or a virtual one in
// which hours pass in microseconds and every run is repeatable.
package clock

import (
	"context"
	"errors"
	"math"
	"time"
)

// Clock is the only time that code below the drivers may read.
type Clock interface {
	// Now is the current time of this clock.
	Now() time.Time
	// Sleep returns nil after d, or the context's cause if the context ends
	// before. A d of zero or less returns at once. Forever waits for the context.
	Sleep(ctx context.Context, d time.Duration) error
	// WithTimeout returns a context that ends with context.DeadlineExceeded
	// after d on this clock. The caller must call cancel.
	WithTimeout(parent context.Context, d time.Duration) (ctx context.Context, cancel context.CancelFunc)
	// AfterFunc calls f once d has passed: on a goroutine of its own in real time,
	// on the goroutine that sleeps then in virtual time. The returned function
	// stops the timer if it has not fired.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// Forever is a sleep that only the context can end.
const Forever time.Duration = math.MaxInt64

// ErrStalled is returned by a virtual Sleep that nothing would ever end.
var ErrStalled = errors.New("virtual clock stalled: a wait without end and no deadline pending")

// Err is the reason why ctx ended (context.Cause), or nil if it has not. Use it
// in place of ctx.Err(): the Err of a context derived from a virtual deadline is
// Canceled, and only the cause names the deadline.
func Err(ctx context.Context) error { return context.Cause(ctx) }

// Real returns the machine's clock.
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
