package mocks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Server lets any number of trials be reached over HTTP/1.1, each under its own
// base URL: /t/<trial>/v1, or /v1 for the trial "". The zero value is ready to
// use. The caller listens; use a loopback address unless others should reach it. For a
// single test see Start.
type Server struct {
	mu     sync.RWMutex
	trials map[string]*trial
}

// trial is an engine that is attached.
type trial struct {
	engine *Engine
	// gone ends when the trial is detached, and with it every exchange under way.
	gone   context.Context
	leave  context.CancelFunc
	active sync.WaitGroup
}

// errDetached cancels the exchanges of a trial that is detached.
var errDetached = errors.New("the trial was detached from the scripted server")

// Attach makes an engine reachable under a trial's name, which is one element of
// a path. A name that is in use is an error.
func (s *Server) Attach(name string, e *Engine) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.trials[name]; ok {
		return fmt.Errorf("attach the trial %q: the name is in use; detach the other one first", name)
	}
	if s.trials == nil {
		s.trials = map[string]*trial{}
	}
	t := &trial{engine: e}
	t.gone, t.leave = context.WithCancel(context.Background())
	s.trials[name] = t
	return nil
}

// Detach ends the open exchanges of a trial, waits for them and removes the trial. After
// that the engine's report is complete. It is an error if ctx ends before, because of a
// client that neither reads nor leaves.
func (s *Server) Detach(ctx context.Context, name string) error {
	s.mu.Lock()
	t, ok := s.trials[name]
	delete(s.trials, name)
	s.mu.Unlock()
	if !ok {
		return nil
	}
	t.leave()
	idle := make(chan struct{})
	go func() {
		t.active.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("detach the trial %q: an exchange is still under way: %w", name, clock.Err(ctx))
	}
}

// enter finds a trial and keeps Detach waiting until leave is called.
func (s *Server) enter(name string) *trial {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.trials[name]
	if t != nil {
		t.active.Add(1)
	}
	return t
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, path := splitTrial(r.URL)
	t := s.enter(name)
	if t == nil {
		_ = writeFrame(w, unknownTrial(name, path, r), true)
		return
	}
	defer t.active.Done()
	t.play(w, r, t.engine.respond(r.Context(), r, path))
}

// unknownTrial answers a request for an unknown trial. The bare root always exists, for
// health checks.
func unknownTrial(name, path string, r *http.Request) wire.Frame {
	if name == "" && path == "/" && r.Method == http.MethodHead {
		return wire.Frame{Status: http.StatusOK}
	}
	where := fmt.Sprintf("There is no trial %s at this scripted server", shorten(name))
	if name == "" {
		where = "This scripted server has no trial at /v1"
	}
	return codecOf(path, r.Header, nil).EncodeError(&wire.APIError{
		Status: http.StatusNotFound, Type: "invalid_request_error", Code: "unknown_trial",
		Message: where + "; each trial has its own base URL, /t/<trial>/v1, as long as it runs.",
	})[0]
}
