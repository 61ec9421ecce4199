// Package view serves the runs of a history, and the runs in progress, as web pages: lists, a run, a
// scenario, the transcript of a trial, comparisons and trends.
//
// The pages are complete without JavaScript. All texts of runs are hostile: html/template and the
// renderers of reports escape them, and a content security policy allows only the server's own style
// sheet and script. The server reads only; it starts no agent and changes no run.
package view

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// History is a history of runs, such as a store.Store.
type History interface {
	Runs(ctx context.Context, f history.Filter) ([]history.Run, error)
	Entry(ctx context.Context, id string) (history.Entry, error)
	Trend(ctx context.Context, of history.Identity, f history.Filter, measures ...string) ([]history.Point, error)
	Renamed(ctx context.Context, of history.Identity) ([]history.Identity, error)
	Close() error
}

// Options configure a Server.
type Options struct {
	// Language judges recorded trials.
	Language *gate.Language
	// History opens the history for one request, which closes it. It may return nil, for none.
	History func(ctx context.Context) (History, error)
	// Runs is a folder with the folders of runs, among which are those in progress; empty for none.
	Runs string
	// Follow are further folders of runs that may be in progress.
	Follow []string
	// Token opens the pages; it must not be empty.
	Token string
	// Hosts are further names by which requests may address the server.
	Hosts []string
	// Tool is the name and version of this program.
	Tool string
	// Clock is the time; nil means real time.
	Clock clock.Clock
	// Spans exports a span for each page; nil for none.
	Spans trace.TracerProvider
	// Poll is how often a run in progress is read; 0 means 250 ms.
	Poll time.Duration
}

// Server serves the pages. It is safe for concurrent use.
type Server struct {
	opts    Options
	metrics *metrics
	handler http.Handler

	mu     sync.Mutex
	opened []*opened // the most recently used first
}

// opened is a recording with its index, and what was read of a run in progress.
type opened struct {
	folder string
	trials *rundir.Trials
	clock  clock.Clock
	live   live
}

// maxOpened limits the recordings whose indexes are kept in memory: about 60 bytes a trial.
const maxOpened = 16

// New returns a server.
func New(opts Options) (*Server, error) {
	if opts.Token == "" {
		return nil, errors.New("a server of pages needs a token")
	}
	if opts.Poll == 0 {
		opts.Poll = 250 * time.Millisecond
	}
	if opts.Clock == nil {
		opts.Clock = clock.Real()
	}
	s := &Server{opts: opts, metrics: newMetrics(opts.Clock, opts.Spans)}
	s.handler = s.guard(s.routes())
	return s, nil
}

// Handler returns the handler of all pages.
func (s *Server) Handler() http.Handler { return s.handler }

// closing limits the time in which requests end after the end of Serve's context.
const closing = 2 * time.Second

// Serve serves on a listener until ctx ends, and closes it. Streams of events end with ctx.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	err := server.Shutdown(last)
	if err != nil {
		err = server.Close()
	}
	if serving := <-ended; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}

// open returns the recording of a folder, with an index that earlier requests made.
func (s *Server) open(folder string) *opened {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.opened {
		if o.folder == folder {
			copy(s.opened[1:i+1], s.opened[:i])
			s.opened[0] = o
			return o
		}
	}
	o := &opened{folder: folder, trials: rundir.NewTrials(folder, s.opts.Language), clock: s.opts.Clock}
	s.opened = append([]*opened{o}, s.opened[:min(len(s.opened), maxOpened-1)]...)
	return o
}

// past opens the history; it returns nil if there is none.
func (s *Server) past(ctx context.Context) (History, error) {
	if s.opts.History == nil {
		return nil, nil
	}
	return s.opts.History(ctx)
}
