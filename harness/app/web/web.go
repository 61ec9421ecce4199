// Package web drives an agent that is an HTTP application: each turn is a request, and
// the answer is taken from the response.
package web

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/httpturn"
	"github.com/rehearse-dev/rehearse/internal/jsonpath"
)

// Dialogue is how an application is spoken to.
type Dialogue struct {
	// Request makes a request of a turn.
	Request *httpturn.Template
	// Answer picks the answer out of a response's JSON; the zero path takes the body as
	// text. Of a stream of server-sent events the answers of all events are put
	// together.
	Answer jsonpath.Path
	// Session picks a session's id, which later requests find; the zero path, none.
	Session jsonpath.Path
	// Health is a path that answers 200 once the application can be spoken to; empty:
	// it listens.
	Health string
	// HealthTimeout is how long that may take; default 30 s.
	HealthTimeout time.Duration
}

// healthTimeout is the default of Dialogue.HealthTimeout.
const healthTimeout = 30 * time.Second

// Place is where the application of one trial runs, such as a process. It belongs to
// one goroutine, but for Gone and Kill.
type Place interface {
	// Start starts the application, again if it ran before, with what it kept. It
	// returns the application's address, such as http://127.0.0.1:4711, once ready
	// says that it can be spoken to there.
	Start(ctx context.Context, ready Ready) (base string, err error)
	// Gone is closed once the application that was started last has ended; nil if
	// nobody can tell.
	Gone() <-chan struct{}
	// Lag is how long after its connections were cut it takes to be known that the
	// application has ended; it lives, if that is not known by then.
	Lag() time.Duration
	// Ended describes how it ended and what it wrote last.
	Ended() string
	// Kill ends the application at once, with everything that it started.
	Kill(ctx context.Context) error
	// Close is Kill, and removes what the application left. It may be called again.
	Close(ctx context.Context) error
}

// confined is a place that may be in a network of its own.
type confined interface {
	// Within is how that is entered, as app.Site has it; nil is this machine's.
	Within() func(do func() error) error
}

// Ready waits until an application can be spoken to. It ends early once gone is closed.
type Ready func(ctx context.Context, base string, gone <-chan struct{}) error

// Open starts an application in a place and returns the conversation with it, which is
// an app.Restarter.
func Open(ctx context.Context, dialogue Dialogue, place Place, clk clock.Clock) (app.Session, error) {
	dialogue.HealthTimeout = cmp.Or(dialogue.HealthTimeout, healthTimeout)
	reach := dialIn(nil)
	if p, ok := place.(confined); ok {
		reach = dialIn(p.Within())
	}
	s := &session{dialogue: dialogue, place: place, clock: clk, client: newClient(reach), reach: reach}
	s.unhook = context.AfterFunc(ctx, func() {
		_ = place.Kill(context.WithoutCancel(ctx)) // End says what could not be ended
	})
	if err := s.start(ctx); err != nil {
		s.discard(ctx)
		return nil, err
	}
	return s, nil
}

// There is an application that is there already and stays: nobody starts or ends it.
type there struct {
	dialogue Dialogue
	base     string
}

// There returns the agent that is an application at a URL on loopback, started by
// somebody else.
func There(dialogue Dialogue, at string) (app.Agent, error) {
	base, err := httpturn.Base(at)
	if err != nil {
		return nil, fmt.Errorf("the application's url: %w", err)
	}
	dialogue.HealthTimeout = cmp.Or(dialogue.HealthTimeout, healthTimeout)
	return there{dialogue, base}, nil
}

// Start implements app.Agent.
func (t there) Start(ctx context.Context, site app.Site) (app.Session, error) {
	reach := dialIn(nil)
	s := &talk{dialogue: t.dialogue, base: t.base, clock: site.Clock, client: newClient(reach), reach: reach}
	if err := s.ready(ctx, t.base, nil); err != nil {
		return nil, err
	}
	return s, nil
}
