package http

import (
	"context"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
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

// running is an application that somebody else started and ends.
type running struct {
	dialogue Dialogue
	base     string
}

// Start implements app.Agent.
func (r running) Start(ctx context.Context, site app.Site) (app.Session, error) {
	reach := dialIn(nil)
	s := &talk{dialogue: r.dialogue, base: r.base, clock: site.Clock, client: newClient(reach), reach: reach}
	if err := s.ready(ctx, r.base, nil); err != nil {
		return nil, err
	}
	return s, nil
}
