// Package perturb defines perturbations of a golden path: a call that fails, a write at which the
// process crashes, a user action out of turn. A perturbation has a text form, which is printed in
// commands, written in scenario files and stored in recordings.
//
//	call=7:reset-mid-stream               the seventh call fails once
//	call=7:status,status=503,times=3      three attempts of it are refused
//	call=3:latency,first=30s              the third answer takes 30 s
//	call=3:text-truncated                 the third answer is cut in the middle
//	write=12:crash-before                 the process dies before the twelfth write
//	write=3:crash-after,every=10          and again ten writes later, and so on
//	tool=2:exit                           the MCP server ends at the second call of a tool
//	turn=4:double                         the fourth submission is sent twice
package perturb

import (
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
)

// Point is the kind of event at which a perturbation happens.
type Point string

// The points.
const (
	// Call counts calls to the backend as the script sees them: call n is made after n-1 answers
	// were used up, so that a retry is the same call.
	Call Point = "call"
	// Write counts durable writes over all processes of a trial.
	Write Point = "write"
	// Tool counts calls of tools at scripted MCP servers in order of arrival, with those that failed.
	Tool Point = "tool"
	// Turn counts the user's submissions.
	Turn Point = "turn"
)

// The perturbations of a call, in addition to the faults of mocks.Fault.
const (
	Latency        = "latency"         // the answer takes First
	TextTruncated  = "text-truncated"  // half of the answer's text
	TextReformat   = "text-reformat"   // the same words with other white space, punctuation and fences
	TextTranslated = "text-translated" // the answer's words replaced by another language
	TextPadded     = "text-padded"     // the answer between a greeting and a long closing
)

// The perturbations of a write.
const (
	CrashBefore = "crash-before" // the data is lost
	CrashAfter  = "crash-after"  // the data is stored, but the process dies before it learns that
	DiskFull    = "disk-full"    // the write fails, and the process continues
)

// The perturbations of a turn.
const (
	Double     = "double"     // sends the same submission twice
	Concurrent = "concurrent" // sends it twice at once
	Reload     = "reload"     // reloads the page before
	Empty      = "empty"      // sends only blanks first
	Long       = "long"       // sends 1 MB first
	Stale      = "stale"      // answers the previous message first
	Ahead      = "ahead"      // answers a message that is not shown yet first
	Restart    = "restart"    // the service is stopped cleanly and restarted before
)

// Perturbation is one deviation from a golden path.
type Perturbation struct {
	At Point
	// N is the number of the call, write or turn, from 1.
	N int
	// Do is a kind of fault or one of the constants of the point.
	Do string
	// Fault contains the options of a fault, with the Kind Do; nil for others.
	Fault *mocks.Fault
	// First is the latency of the answer, if Do is Latency.
	First quantity.Duration
	// Every repeats the perturbation of a write at each multiple of Every after N; 0 means once.
	Every int
}
