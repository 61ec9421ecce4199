package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// maxHeader is the maximum size of the headers of a request in bytes.
const maxHeader = 16 << 10

// Serve serves requests on a listener until ctx ends. Then it accepts no more connections and waits
// at most Options.DrainTimeout for the requests in progress, so that the steps that have begun are
// stored and answered. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.options.ReadHeaderTimeout,
		ReadTimeout:       s.options.ReadTimeout,
		WriteTimeout:      s.options.WriteTimeout,
		IdleTimeout:       s.options.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.deps.Log.Handler(), slog.LevelWarn),
		// The end of ctx must not cancel the requests in progress.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	var sweeper sync.WaitGroup
	defer sweeper.Wait()
	sweeping, stop := context.WithCancel(ctx)
	defer stop()
	if s.options.Keep > 0 {
		sweeper.Go(func() { s.sweep(sweeping) })
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	drain, cancel := s.deps.Clock.WithTimeout(context.WithoutCancel(ctx), s.options.DrainTimeout)
	defer cancel()
	s.draining.Store(true)
	err := server.Shutdown(drain)
	if err != nil {
		err = errors.Join(
			fmt.Errorf("requests were still in progress after %s: %w; their steps are resumed when the server starts again",
				s.options.DrainTimeout, err),
			server.Close())
	}
	if serving := <-ended; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}

// sweepEvery is the time between two deletions of unused sessions.
const sweepEvery = time.Hour

// sweep deletes unused sessions until ctx ends.
func (s *Server) sweep(ctx context.Context) {
	for {
		erased, err := session.EraseUnused(ctx, s.deps.Store, s.deps.Clock.Now().Add(-s.options.Keep))
		if erased > 0 {
			s.deps.Log.InfoContext(ctx, "unused sessions deleted", "sessions", erased)
		}
		if err != nil && ctx.Err() == nil {
			s.deps.Log.ErrorContext(ctx, "unused sessions could not be deleted", "cause", err)
		}
		if s.deps.Clock.Sleep(ctx, sweepEvery) != nil {
			return
		}
	}
}
