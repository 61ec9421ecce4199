package mocks

import "time"

// Injection is something that goes wrong at one call, whatever line answers it.
type Injection struct {
	// Call is which call, from 1: one more than the answers that were used up before
	// it. The retry of a call is the same call.
	Call int
	// Name is how reports name it, such as "call=7:reset-mid-stream".
	Name string
	// Fault, if given, strikes the first Fault.Times attempts (default 1).
	Fault *Fault
	// Latency, if not 0, is how long the answer takes, in place of the line's.
	Latency time.Duration
	// Edit, if given, changes the text of the answer, which is then used up.
	Edit func(text string) string
}
