// Package guard holds the guards that tell an agent that it is stuck: runs of
// equal answers, cycles of answers, and a circuit breaker. Each is a small value
// that is fed one observation after another and decides purely: it reads no
// clock and starts nothing.
package guard

// Run counts how often the same text came in a row. The zero value is ready.
// Equality is strict: one byte of difference begins a new run.
type Run struct {
	last  string
	count int
}

// Next takes the next text and returns the length of the run that it is part
// of, which is at least 1.
func (r *Run) Next(text string) int {
	if r.count > 0 && text == r.last {
		r.count++
	} else {
		r.last, r.count = text, 1
	}
	return r.count
}

// Reset forgets the run.
func (r *Run) Reset() { *r = Run{} }
