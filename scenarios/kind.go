package scenarios

import "cmp"

// The values of Backend.As.
const (
	// InProcess reaches the scripted API without a socket, in virtual time.
	InProcess = "openai"
	// Socket reaches the same API over loopback, in real time.
	Socket = "socket"
)

// Kind is what speaks: As, or InProcess where the file does not say.
func (b Backend) Kind() string { return cmp.Or(b.As, InProcess) }

// Process reports whether the backend is a scripted command-line agent, a child
// process.
func (b Backend) Process() bool { return b.Kind() != InProcess && b.Kind() != Socket }
