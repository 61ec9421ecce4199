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

// UserBackend returns the model of the simulated user; nil without one.
func (sc *Scenario) UserBackend() *Backend {
	if talk, ok := sc.Drive.Options.(interface{ UserBackend() *Backend }); ok {
		return talk.UserBackend()
	}
	return nil
}

// LiveBackends returns the real models that the agent, the simulated user and the judges call.
func (sc *Scenario) LiveBackends() []*Backend {
	all := []*Backend{&sc.Backend}
	if b := sc.UserBackend(); b != nil {
		all = append(all, b)
	}
	for i := range sc.Scores {
		if j := sc.Scores[i].Judge; j != nil {
			all = append(all, &j.Backend)
		}
	}
	return slices.DeleteFunc(all, func(b *Backend) bool { return !b.Live() })
}

// Process reports whether the backend is a scripted command-line agent, a child process.
func (b Backend) Process() bool { return b.Kind() != InProcess && b.Kind() != Socket && !b.Live() }
