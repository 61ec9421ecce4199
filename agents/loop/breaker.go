package loop

import "cmp"

// breakerState is the state of a circuit breaker.
type breakerState string

const (
	breakerClosed   breakerState = "closed"    // calls go through
	breakerOpen     breakerState = "open"      // calls wait for the cooldown
	breakerHalfOpen breakerState = "half-open" // one trial call goes through
)

// breaker is a circuit breaker as a pure state machine: it opens after a number of failed calls in
// a row, becomes half-open after the cooldown, and then closes or opens again with the next call.
// Its owner waits for the cooldown.
type breaker struct {
	failures int // failed calls in a row that open the circuit; 0: never open
	maxOpens int // give up at this opening; 0: never

	state  breakerState // closed if empty
	failed int          // calls in a row
	opens  int
}

func (b *breaker) current() breakerState { return cmp.Or(b.state, breakerClosed) }

// givenUp reports whether the circuit has opened as often as it may.
func (b *breaker) givenUp() bool { return b.maxOpens > 0 && b.opens >= b.maxOpens }

// cool ends the cooldown.
func (b *breaker) cool() {
	if b.state == breakerOpen {
		b.state = breakerHalfOpen
	}
}

// succeed records an answered call.
func (b *breaker) succeed() { b.state, b.failed = breakerClosed, 0 }

// fail records a failed call.
func (b *breaker) fail() {
	if b.failures < 1 {
		return
	}
	b.failed++
	if b.state == breakerHalfOpen || b.failed >= b.failures {
		b.state, b.failed = breakerOpen, 0
		b.opens++
	}
}
