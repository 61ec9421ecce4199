package run

// BreakerState is the state of a circuit breaker.
type BreakerState string

// The states of a Breaker.
const (
	Closed   BreakerState = "closed"    // calls go through
	Open     BreakerState = "open"      // calls wait for the cooldown
	HalfOpen BreakerState = "half-open" // one trial call goes through
)

// Breaker is a circuit breaker as a pure state machine: closed until Failures
// calls in a row have failed, then open; once cooled half-open for one call,
// whose success closes it and whose failure opens it again. The owner
// waits while it is open, on its own clock.
type Breaker struct {
	// Failures in a row open the circuit; 0 switches the breaker off.
	Failures int
	// MaxOpens is how often the circuit may open before it is given up; 0 means
	// without limit.
	MaxOpens int

	state  BreakerState
	failed int
	opens  int
}

// State returns the current state; the zero value is closed.
func (b *Breaker) State() BreakerState {
	if b.state == "" {
		return Closed
	}
	return b.state
}

// Opens returns how often the circuit has opened so far.
func (b *Breaker) Opens() int { return b.opens }

// GivenUp reports whether the circuit has opened as often as it may.
func (b *Breaker) GivenUp() bool { return b.MaxOpens > 0 && b.opens >= b.MaxOpens }

// Cooled ends the cooldown: an open circuit becomes half-open.
func (b *Breaker) Cooled() {
	if b.state == Open {
		b.state = HalfOpen
	}
}

// Succeeded records a call that was answered.
func (b *Breaker) Succeeded() {
	b.state, b.failed = Closed, 0
}

// Failed records a call that was not answered.
func (b *Breaker) Failed() {
	if b.Failures < 1 {
		return
	}
	b.failed++
	if b.state == HalfOpen || b.failed >= b.Failures {
		b.state, b.failed = Open, 0
		b.opens++
	}
}
