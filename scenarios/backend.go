package scenarios

import (
	"cmp"
	"slices"
)

// The values of Backend.As.
const (
	// InProcess reaches the scripted API without a socket, in virtual time.
	InProcess = "openai"
	// Socket reaches the same API over loopback, in real time.
	Socket = "socket"
	// Live is a real model at Backend.URL, which may cost money. It is called only if the user
	// allows it.
	Live = "live"
)

// Kind returns As, or InProcess by default.
func (b Backend) Kind() string { return cmp.Or(b.As, InProcess) }

// Live reports whether the backend is a real model, which has no script.
func (b Backend) Live() bool { return b.As == Live }

// Live reports whether the agent or a judge calls a real model.
func (sc *Scenario) Live() bool {
	return sc.Backend.Live() || slices.ContainsFunc(sc.Scores, func(s Score) bool {
		return s.Judge != nil && s.Judge.Backend.Live()
	})
}

// Process reports whether the backend is a scripted command-line agent, a child process.
func (b Backend) Process() bool { return b.Kind() != InProcess && b.Kind() != Socket && !b.Live() }
