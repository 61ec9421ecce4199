package http

import (
	"context"
	"time"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/jsonpath"
)

// Dialogue is a compiled Web.
type Dialogue struct {
	request         *requestTemplate
	answer, session jsonpath.Path // zero if the scenario has none
	health          string
	healthTimeout   time.Duration
}

// defaultHealthTimeout is the default of Web.HealthTimeout.
const defaultHealthTimeout = 30 * time.Second

// Place runs the application of one trial, such as in a process. It belongs to one
// goroutine, except Gone and Kill.
type Place interface {
	// Start starts the application, or starts it again with the state that it stored. It
	// returns the application's address, such as http://127.0.0.1:4711, once ready has
	// returned without an error.
	Start(ctx context.Context, ready Ready) (base string, err error)
	// Gone is closed once the application that was started last has ended; nil if that
	// cannot be observed.
	Gone() <-chan struct{}
	// Lag limits the time between the end of the application's connections and the closing
	// of Gone; an application whose Gone is still open then is running.
	Lag() time.Duration
	// Ended describes how the application ended, with the end of its output. It is silent if it gave no reason: it
	// wrote nothing to standard error, in its last turn if the place is a turnTaker, and nothing about a failure to
	// standard output.
	Ended() (how string, silent bool)
	// Kill ends the application and everything that it started at once.
	Kill(ctx context.Context) error
	// Close is Kill, and removes what the application left behind. It may be called again.
	Close(ctx context.Context) error
}

// confined is a Place that may have a network of its own.
type confined interface {
	// Within enters the network, as app.Site.Within does; nil is this machine's.
	Within() func(do func() error) error
}

// turnTaker is a Place that tells apart what the application wrote to standard error in different turns.
type turnTaker interface {
	// BeginTurn notes that a turn begins.
	BeginTurn()
}

// Ready waits until an application accepts requests. It ends early once gone is closed.
type Ready func(ctx context.Context, base string, gone <-chan struct{}) error

// Open starts an application in a place and returns the conversation with it, an
// app.Restarter.
func Open(ctx context.Context, dialogue Dialogue, place Place, site app.Site) (app.Session, error) {
	reach := dialIn(nil)
	if p, ok := place.(confined); ok {
		reach = dialIn(p.Within())
	}
	s := &session{
		dialogue: dialogue, place: place, clock: site.Clock, client: newClient(reach), reach: reach, perturbed: site.Perturbed,
	}
	s.stopKill = context.AfterFunc(ctx, func() {
		_ = place.Kill(context.WithoutCancel(ctx)) // End reports what could not be ended
	})
	if err := s.start(ctx); err != nil {
		s.discard(ctx)
		return nil, err
	}
	return s, nil
}

// running is an application that the harness neither starts nor ends.
type running struct {
	dialogue Dialogue
	base     string
}

// Start implements app.Agent.
func (r running) Start(ctx context.Context, site app.Site) (app.Session, error) {
	reach := dialIn(nil)
	s := &talk{
		dialogue: r.dialogue, base: r.base, clock: site.Clock, client: newClient(reach), reach: reach, perturbed: site.Perturbed,
	}
	if err := s.ready(ctx, r.base, nil); err != nil {
		return nil, err
	}
	return s, nil
}
