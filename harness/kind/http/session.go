package http

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
)

// session is a conversation with an application that was started for it.
type session struct {
	dialogue  Dialogue
	place     Place
	clock     clock.Clock
	client    *http.Client
	reach     dialer
	perturbed bool
	stopKill  func() bool
	talk      *talk
}

// start starts the application. The state of the client (cookies, the session's id, the
// number of the turn) survives a restart.
func (s *session) start(ctx context.Context) error {
	t := s.talk
	if t == nil {
		t = &talk{dialogue: s.dialogue, clock: s.clock, client: s.client, reach: s.reach, perturbed: s.perturbed}
	}
	base, err := s.place.Start(ctx, t.ready)
	switch {
	case clock.Err(ctx) != nil:
		return clock.Err(ctx)
	case errors.Is(err, ErrGone):
		how, _ := s.place.Ended()
		return app.Errorf(app.Unusable, "the application ended before it accepted a request: %s", how)
	case err != nil:
		return err
	}
	t.base = base
	s.talk = t
	return nil
}

// Say implements app.Session.
func (s *session) Say(ctx context.Context, text string) (app.Answer, error) {
	if p, ok := s.place.(turnTaker); ok {
		p.BeginTurn()
	}
	answer, err := s.talk.Say(ctx, text)
	if failed, ok := errors.AsType[*app.Error](err); ok && failed.Kind == app.Crashed && s.ended(ctx) {
		how, silent := s.place.Ended()
		failed.Message, failed.Silent = "the application went away in the middle of the turn: "+how, silent
	}
	return answer, err
}

// ended reports whether the application has ended, which is known a little later than the
// end of its connections.
func (s *session) ended(ctx context.Context) bool {
	gone := s.place.Gone()
	if gone == nil {
		return false
	}
	ctx, leave := untilGone(ctx, gone)
	defer leave()
	return errors.Is(s.clock.Sleep(ctx, s.place.Lag()), ErrGone)
}

// Restart implements app.Restarter.
func (s *session) Restart(ctx context.Context) error {
	if err := s.place.Kill(ctx); err != nil {
		return app.Errorf(app.Unusable, "kill the application to start it again: %w", err)
	}
	return s.start(ctx)
}

// End implements app.Session.
func (s *session) End(ctx context.Context) error {
	s.stopKill()
	return s.place.Close(ctx)
}

// discard closes a place whose application did not start.
func (s *session) discard(ctx context.Context) {
	s.stopKill()
	ctx, cancel := s.clock.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()
	_ = s.place.Close(ctx) // the error of the start is more useful
}

// discardTimeout limits how long discard may take.
const discardTimeout = 10 * time.Second
