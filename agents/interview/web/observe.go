package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// note collects what a handler adds to the log line of its request. It never contains text of a
// candidate.
type note struct {
	session string
	share   string // the id of the share that opens an audit
	code    string
	cause   error
}

type noteKey struct{}

// noteOf returns the note of a request; a new one if the request is not observed.
func noteOf(r *http.Request) *note {
	if n, ok := r.Context().Value(noteKey{}).(*note); ok {
		return n
	}
	return &note{}
}

func (n *note) failed(f *problem) { n.code, n.cause = f.Code, f.Cause }

// isRequestID reports whether a request id from a proxy is valid: up to 64 letters, digits, ".",
// "_" and "-".
func isRequestID(id string) bool {
	const admitted = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return id != "" && len(id) <= 64 && strings.Trim(id, admitted) == ""
}

// observed adds to all handlers: request ids, spans, metrics, log lines, recovery from panics,
// and the headers of every response.
func (s *Server) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.deps.Clock.Now()
		id := r.Header.Get("X-Request-Id")
		if !isRequestID(id) {
			id = s.deps.NewID()
		}
		h := w.Header()
		h.Set("X-Request-Id", id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer") // the address of a session gives access to it
		h.Set("Content-Security-Policy", policy)

		ctx, endSpan := s.deps.Tracer.request(r)
		n := &note{}
		r = r.WithContext(context.WithValue(ctx, noteKey{}, n))
		seen := &recorder{ResponseWriter: w}
		endMetrics := func(string, string, int, time.Duration) {}
		if s.deps.Metrics != nil {
			endMetrics = s.deps.Metrics.beginRequest()
		}
		defer func() {
			took := s.deps.Clock.Now().Sub(began)
			endSpan(r.Pattern, seen.code(), n.code)
			endMetrics(r.Method, r.Pattern, seen.code(), took)
			s.logRequest(r, id, seen, n, took)
		}()
		defer s.recovered(seen, r)
		next.ServeHTTP(seen, r)
	})
}

// policy allows pages only the resources of this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// recovered answers instead of a handler that panicked.
func (s *Server) recovered(w *recorder, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p) // net/http aborts the connection
	}
	// The value may contain text of a candidate; its type and the stack do not.
	s.deps.Log.ErrorContext(r.Context(), "panic", slog.String("type", fmt.Sprintf("%T", p)), slog.String("stack", string(debug.Stack())))
	f := internalProblem(nil)
	noteOf(r).failed(f)
	if w.status == 0 {
		f.write(w)
	}
}

func (s *Server) logRequest(r *http.Request, id string, seen *recorder, n *note, took time.Duration) {
	level := slog.LevelInfo
	if seen.code() >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("id", id),
		slog.String("route", r.Pattern),
		slog.Int("status", seen.code()),
		slog.Int64("bytes", seen.bytes),
		slog.Float64("took_s", took.Seconds()),
	}
	if n.session != "" {
		attrs = append(attrs, slog.String("session", session.ShortID(n.session)))
	}
	if n.share != "" {
		attrs = append(attrs, slog.String("share", n.share))
	}
	if n.code != "" {
		attrs = append(attrs, slog.String("code", n.code))
	}
	if n.cause != nil && n.code == "store_failed" {
		attrs = append(attrs, slog.String("cause", n.cause.Error()))
	}
	s.deps.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// recorder records the status and size of a response.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap gives http.ResponseController and http.MaxBytesReader access to the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) code() int {
	if w.status == 0 {
		return http.StatusOK // as net/http does for a handler that wrote nothing
	}
	return w.status
}
