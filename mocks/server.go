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

// Server serves any number of trials over HTTP, each under its own base URL: /t/<trial>/v1, or
// /v1 for the trial "". The zero value is ready to use. The caller listens, usually on a loopback
// address. For a single test see Start.
type Server struct {
	mu     sync.RWMutex
	trials map[string]*trial
}

// trial is an attached engine.
type trial struct {
	engine *Engine
	// gone ends with the trial, and ends its open exchanges.
	gone   context.Context
	leave  context.CancelFunc
	active sync.WaitGroup
}

// errDetached cancels the open exchanges of a detached trial.
var errDetached = errors.New("the trial was detached from the scripted server")

// Attach serves an engine under the name of a trial, which is one element of a path and must not be
// in use.
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

// Detach removes a trial, ends its open exchanges and waits for them. The engine's report is then
// complete. Detach fails if ctx ends before that, because a client neither reads nor leaves.
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

// enter returns a trial and adds to its active exchanges, for which Detach waits.
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

// unknownTrial answers a request for an unknown trial, or a health check of the root.
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
