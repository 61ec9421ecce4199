package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
)

// maxHeader is the size of a request's headers in bytes.
const maxHeader = 16 << 10

// Serve answers on a listener until ctx ends. Then it takes no more connections
// and waits for the requests under way, so that a step that was begun is stored
// and its answer sent, for Options.DrainTimeout at most. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.options.ReadHeaderTimeout,
		ReadTimeout:       s.options.ReadTimeout,
		WriteTimeout:      s.options.WriteTimeout,
		IdleTimeout:       s.options.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.deps.Log.Handler(), slog.LevelWarn),
		// Not derived from ctx: its end must not end what is under way.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
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
			fmt.Errorf("requests were still under way after %s: %w; their steps go on when the server starts again", s.options.DrainTimeout, err),
			server.Close())
	}
	if serving := <-ended; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}
