// Package app is the contract between the harness and external agents in any language: how
// one is started, spoken to and ended. The packages below it
// implement the contract for Go functions, commands, HTTP applications, containers and
// the programs of real coding agents.
package app

import (
	"context"
	"io"
	"net/http"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
)

// Agent starts conversations. It is safe for concurrent use: each trial starts a session.
type Agent interface {
	// Start starts the agent in a site and waits until it accepts turns. Everything that it
	// started is ended when ctx ends or the session is ended. The error is an *Error.
	Start(ctx context.Context, site Site) (Session, error)
}

// Session is one conversation with an agent. It belongs to one goroutine.
type Session interface {
	// Say sends the user's message and waits for the whole answer. The error is an *Error;
	// after one, Say is not called again unless the session is a Restarter.
	Say(ctx context.Context, text string) (Answer, error)
	// End ends the agent and waits until all its processes have ended. It may be called again. The
	// error describes what could not be ended or removed; an *Error reports that the agent
	// failed after its last answer.
	End(ctx context.Context) error
}

// Restarter is a session whose agent can be killed and started again in the same site, with
// the files that it left there.
type Restarter interface {
	Restart(ctx context.Context) error
}

// MaxAnswer limits the answer of one turn, in bytes; the error of a longer one is Flooded.
const MaxAnswer = 4 << 20

// Answer is the answer of an agent in one turn.
type Answer struct {
	// Text is the answer for the user.
	Text string
	// Raw is the beginning of the output that contains the text; empty if it is the same.
	Raw string
	// Denied describes the tool calls that the agent's permissions refused; empty if none.
	Denied string
	// Attrs are further facts for the recording, such as an HTTP status; values are
	// strings, numbers, booleans, or slices of these. The names user, calls, error, kind and
	// denied are reserved: an answer with one of them ends the trial with an error.
	Attrs map[string]any
}

// Filled reports whether tools fill a folder of this name, which is therefore not recorded:
// version control and packages.
func Filled(folder string) bool { return folder == ".git" || folder == "node_modules" }

// Site is the environment of an agent. Each trial has its own.
type Site struct {
	// Backend is the scripted backend's base URL without the protocol's own "/v1", such
	// as "http://127.0.0.1:4711/t/271…".
	Backend string
	// Env are the variables by which an agent finds the backend, as NAME=value, with keys
	// that work nowhere else, and the proxy that refuses all other hosts. An agent's
	// process gets these and the few variables that every program needs, and no others.
	Env []string
	// MCP are the scripted MCP servers of the agent; Env has them as well.
	MCP []MCPServer
	// Within starts the agent's process in the trial's own network with the backend and the
	// proxy; nil is the machine's network.
	Within func(start func() error) error
	// Folder is the workspace, an existing folder that the trial removes.
	Folder string
	// Home is a folder beside it for the agent's home and temporary files.
	Home string
	// Client reaches the backend in process, without a socket and in the trial's time;
	// nil unless the agent is a Go function.
	Client *http.Client
	// Clock is the trial's.
	Clock clock.Clock
	// Perturbed is true if something goes wrong on purpose, after which an answer may lack what others have.
	Perturbed bool
	// Log receives what the agent writes beside its answers: standard error, a container's
	// log. It is safe for concurrent use and keeps the end.
	Log io.Writer
	// Emit records something that the agent did beside its answers. It may be nil.
	Emit func(event.Event)
}

// Function is an agent that is a stateless Go function: it answers the message of a user.
type Function func(ctx context.Context, site Site, text string) (string, error)

// Maker makes an agent that is a Go function for one conversation. The returned function is
// called once for each turn, by one goroutine at a time, and may have state. It can be a
// method of an agent that was made for the site.
type Maker func(site Site) func(ctx context.Context, text string) (string, error)
