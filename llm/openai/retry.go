package openai

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rehearse-dev/rehearse/llm"
)

// RetryPolicy defines how often, and after which waits, failed attempts are repeated. Only transient errors
// (llm.ErrorKind.Transient) are retried.
type RetryPolicy struct {
	// Max is the number of attempts after the first; 0 means 2, a negative number 0.
	Max int
	// Base is the wait before the second attempt, doubled for each further one;
	// default 500ms.
	Base time.Duration
	// Cap is the longest wait; default 30s. If Retry-After asks for a longer one, the call fails
	// immediately.
	Cap time.Duration
	// Rand draws from [0, 1) to shorten each wait by up to a quarter, which spreads the retries of
	// clients that failed together. It must be safe for concurrent use. By default there is no
	// jitter, which makes runs repeatable.
	Rand func() float64
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	if p.Max == 0 {
		p.Max = 2
	}
	if p.Base == 0 {
		p.Base = 500 * time.Millisecond
	}
	if p.Cap == 0 {
		p.Cap = 30 * time.Second
	}
	return p
}

// next decides whether to retry after failed and earlier retries, and after which wait. The wait is at least
// the one that the server asked for; if that is longer than Cap, there is no retry.
func (p RetryPolicy) next(failed *llm.Error, earlier int) (wait time.Duration, again bool) {
	if !failed.Kind.Transient() || earlier >= p.Max || failed.RetryAfter > p.Cap {
		return 0, false
	}
	// Only the intervals are the library's: its timer and its random source are
	// global, so neither could be repeated.
	intervals := backoff.ExponentialBackOff{InitialInterval: p.Base, Multiplier: 2, MaxInterval: p.Cap}
	for range earlier + 1 {
		wait = intervals.NextBackOff()
	}
	wait = min(wait, p.Cap)
	if p.Rand != nil {
		wait -= time.Duration(p.Rand() * float64(wait) / 4)
	}
	return max(wait, failed.RetryAfter), true
}

// Pacer limits how often a server is called, for all clients that share it. It waits in real time, whatever
// the Clock of a client. It must be safe for concurrent use.
type Pacer interface {
	// Wait returns when the next attempt may begin. Its error ends the call.
	Wait(ctx context.Context) error
	// Pause delays all further attempts by this time. Its error ends the call.
	Pause(ctx context.Context, d time.Duration) error
}

// Limits of the waits for a Pacer.
const (
	longestPause = 5 * time.Minute
	maxPauses    = 20 // in a call
)

// pauses reports whether all clients must wait after a failed attempt, which is then repeated: their number,
// not the request, is the reason for a rate limit.
func (b *Backend) pauses(failed *llm.Error) bool {
	return b.cfg.Pacer != nil && failed.Kind == llm.RateLimited && failed.RetryAfter > 0 && failed.RetryAfter <= longestPause
}

// retryAfter returns the wait that a server asks for: OpenAI's retry-after-ms, or Retry-After in seconds or
// as a date (RFC 9110, 10.2.3). Invalid values are 0.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d := scaled(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	value := h.Get("Retry-After")
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}
	return scaled(value, time.Second)
}

// scaled parses a number of units, clamped to the range of time.Duration.
func scaled(text string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0) { // NaN is not above 0
		return 0
	}
	if d := n * float64(unit); d < math.MaxInt64 {
		return time.Duration(d)
	}
	return math.MaxInt64
}
