// Package perturb is the vocabulary of departures from a golden path: one call
// that fails, one write at which the process dies, one thing that a person does
// out of turn. A perturbation is a line of text, so that it can be printed as part
// of a command, written in a scenario file and stored in a recording.
//
//	call=7:reset-mid-stream               the seventh call fails once
//	call=7:status,status=503,times=3      three attempts of it are refused
//	call=3:latency,first=30s              the third answer takes 30 s
//	call=3:text-truncated                 the third answer is cut in the middle
//	write=12:crash-before                 the process dies before the twelfth write
//	write=3:crash-after,every=10          and again ten writes later, and so on
//	turn=4:double                         the fourth submission is sent twice
package perturb

import (
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
)

// Point is what a perturbation is counted in.
type Point string

// The points.
const (
	// Call counts calls to the backend as the script sees them: call n is the one
	// that is made when n-1 answers have been used up, so that a retry is the same
	// call.
	Call Point = "call"
	// Write counts durable writes, over all processes of a trial.
	Write Point = "write"
	// Turn counts what the person on the other side sends.
	Turn Point = "turn"
)

// What happens at a call, beside the faults of mocks.Fault.
const (
	Latency        = "latency"         // the answer takes First
	TextTruncated  = "text-truncated"  // half of the answer's text
	TextReformat   = "text-reformat"   // the same words with other blanks, breaks, marks and fences
	TextTranslated = "text-translated" // words of another language in place of the answer's
	TextPadded     = "text-padded"     // the answer between a greeting and a lot of talk
)

// What happens at a write.
const (
	CrashBefore = "crash-before" // what was to be written is lost
	CrashAfter  = "crash-after"  // it is kept, and the process has not heard of it
	DiskFull    = "disk-full"    // the write fails, and the process lives
)

// What a person does at a turn.
const (
	Double     = "double"     // sends the same submission twice
	Concurrent = "concurrent" // sends it twice at once
	Reload     = "reload"     // asks for the page again before
	Empty      = "empty"      // sends nothing but blanks first
	Long       = "long"       // sends 1 MB first
	Stale      = "stale"      // answers the message before first
	Ahead      = "ahead"      // answers a message that was not shown yet first
	Restart    = "restart"    // the service is stopped in order and started again before
)

// Perturbation is one departure from a golden path.
type Perturbation struct {
	At Point
	// N is which call, write or turn, from 1.
	N int
	// Do is what happens: a kind of fault or one of the constants of its point.
	Do string
	// Fault holds the options of a fault; its Kind is Do. It is nil for the others.
	Fault *mocks.Fault
	// First is how long the answer takes (Do is Latency).
	First quantity.Duration
	// Every, at a write, repeats it at each one that comes a multiple of Every after
	// N; 0 means once.
	Every int
}
