package clock

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"
)

// Epoch is the start of virtual time. It is fixed to make recordings repeatable.
var Epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Virtual is a discrete-event clock: sleeping advances it, and fires the deadlines and timers up to the
// new time in order of time, then of creation. Each trial has its own Virtual. It is safe for concurrent
// use, but repeatable only if one goroutine at a time sleeps.
//
// Firing is synchronous: when Sleep returns, every context whose deadline has
// passed is cancelled. Each timer costs O(log n) in the number of pending ones.
type Virtual struct {
	mu     sync.Mutex
	now    time.Time
	timers timerHeap
	serial uint64
}

// NewVirtual returns a virtual clock set to Epoch.
func NewVirtual() *Virtual { return &Virtual{now: Epoch} }

// Now returns the current virtual time.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// Elapsed returns the virtual time since Epoch.
func (v *Virtual) Elapsed() time.Duration { return v.Now().Sub(Epoch) }

// Sleep advances the clock by d and fires timers; see Clock.
func (v *Virtual) Sleep(ctx context.Context, d time.Duration) error {
	if err := Err(ctx); err != nil || d <= 0 {
		return err
	}
	until := time.Time{} // Forever
	if d != Forever {
		until = v.Now().Add(d)
	}
	for {
		fire, done := v.step(until)
		switch {
		case fire != nil:
			fire()
			if err := Err(ctx); err != nil {
				return err
			}
		case done:
			return nil
		default:
			return ErrStalled
		}
	}
}

// step moves to the next timer at or before until and returns its function, or
// moves to until and reports done. With a zero until there is no end.
func (v *Virtual) step(until time.Time) (fire func(), done bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.timers) > 0 && (until.IsZero() || !v.timers[0].at.After(until)) {
		t := heap.Pop(&v.timers).(*timer)
		if t.at.After(v.now) {
			v.now = t.at
		}
		return t.fire, false
	}
	if until.IsZero() {
		return nil, false
	}
	if until.After(v.now) {
		v.now = until
	}
	return nil, true
}

// AfterFunc calls f after d, in the goroutine that sleeps at that time; see Clock.
func (v *Virtual) AfterFunc(d time.Duration, f func()) (stop func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.serial++
	t := &timer{at: v.now.Add(d), serial: v.serial, fire: f}
	heap.Push(&v.timers, t)
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if t.index >= 0 {
			heap.Remove(&v.timers, t.index)
		}
	}
}

// WithTimeout returns a context that ends when virtual time has advanced by d.
func (v *Virtual) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancelCause(parent)
	ctx := &deadlineCtx{Context: inner, at: v.Now().Add(max(d, 0))}
	if d <= 0 {
		cancel(context.DeadlineExceeded)
		return ctx, func() {}
	}
	stop := v.AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// deadlineCtx embeds a standard cancellable context, so that contexts derived
// from it are cancelled synchronously, and reports the virtual deadline.
type deadlineCtx struct {
	context.Context
	at time.Time
}

// Deadline is in virtual time. Because Epoch is in the past, timeouts of the standard library that are
// derived from this context start no real timer.
func (c *deadlineCtx) Deadline() (time.Time, bool) {
	if at, ok := c.Context.Deadline(); ok && at.Before(c.at) {
		return at, true
	}
	return c.at, true
}

// Err returns DeadlineExceeded once the virtual deadline has passed, as a standard
// deadline does; the embedded context alone would return Canceled.
func (c *deadlineCtx) Err() error {
	if c.Context.Err() == nil {
		return nil
	}
	if errors.Is(Err(c.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return c.Context.Err()
}

type timer struct {
	at     time.Time
	serial uint64
	fire   func()
	index  int
}

// timerHeap implements heap.Interface, ordered by time, then by creation.
type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }

func (h timerHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].serial < h[j].serial
	}
	return h[i].at.Before(h[j].at)
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}
