// Package web serves interviews over HTTP: a JSON interface for programs, accessible pages for
// people, and metrics and spans for operators. The pages work without JavaScript. Metrics, spans and
// logs contain neither texts of an interview nor the identity of a candidate.
package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/access"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/loopback"
)

// Options configures a Server. The zero value is usable.
type Options struct {
	// Token is the bearer token, or the password for any user name, for /sessions and /sessions/{id}/audit, which do not exist
	// without a token, and for /metrics, which is open without one.
	Token string
	// EURPerUSD converts costs for the list of sessions; 0 means that costs in USD are unknown.
	EURPerUSD float64
	// OverdueAfter is the age from which an owed message counts as overdue in the metrics; default 10 min.
	OverdueAfter time.Duration
	// Instance is the instance name of the service. With it the page resumes a call that was lost in
	// a crash at once; without it, after the claim of the call has ended.
	Instance string
	// Languages are the offered languages; empty means all. The first one is the default.
	Languages []session.Language
	// Jobs are the jobs of the service. With several, the first page lists them.
	Jobs []session.Job
	// Hosts are the accepted names of this server, without port, in addition to localhost,
	// 127.0.0.1, ::1 and the local address of the connection. Requests for other hosts get 421,
	// which prevents DNS rebinding.
	Hosts []string
	// StartsPerMinute limits the interviews that one address may begin per minute, and
	// AllStartsPerMinute those of all addresses; default 10 and 60, and -1 means no limit.
	// Requests above the limit get 429.
	StartsPerMinute, AllStartsPerMinute int
	// Secrets sign cookies, links and codes, at least 32 bytes each. The first one signs, and all
	// verify. Without secrets the server makes one, and its signatures end with it.
	Secrets []string
	// LinkTime is the time for which a personal link, and the offer to continue in the same browser,
	// are valid; default 30 days.
	LinkTime time.Duration
	// AddressTime is the time for which the address of a finished interview, or its id, gives access to
	// it; default 24 h. Afterwards the cookie, a personal link or a code is needed.
	AddressTime time.Duration
	// Keep is the time after its last change after which a session is deleted, finished or not; 0
	// keeps all.
	Keep time.Duration
	// Privacy replaces the text of /privacy in a language, and Contact is the operator in the default
	// text.
	Privacy map[session.Language]string
	Contact string
	// Invite is true if the service requires invitations, so that the page asks for one.
	Invite bool
	// TrustedProxies are the addresses of proxies whose X-Forwarded-For names the client, and whose
	// X-Forwarded-Proto its protocol. Without them the client is the peer of the connection, so that all
	// requests through a proxy have one address, and HTTPS is that of the connection.
	TrustedProxies []netip.Prefix
	// MaxBody is the maximum size of a request body in bytes; default 256 KiB.
	MaxBody int64
	// ReadHeaderTimeout, ReadTimeout and IdleTimeout are the timeouts of http.Server; default
	// 10 s, 30 s and 2 min.
	ReadHeaderTimeout, ReadTimeout, IdleTimeout time.Duration
	// WriteTimeout limits a response, including the calls to a model; default 10 min. It has to
	// exceed the longest step.
	WriteTimeout time.Duration
	// DrainTimeout is the time that Serve waits for steps in progress at its end; default 90 s.
	DrainTimeout time.Duration
}

// Deps are the dependencies of a Server. Service, Store and Clock are required.
type Deps struct {
	// Service is an *interview.Service.
	Service interface {
		Handle(ctx context.Context, in interview.Submission) (interview.View, error)
	}
	// Store is the store of the service; the server only reads it, and deletes sessions.
	Store session.Store
	Clock clock.Clock
	// Log receives a line for each request; may be nil.
	Log *slog.Logger
	// Metrics to serve at /metrics; may be nil.
	Metrics *Metrics
	// Tracer starts a span for each request.
	Tracer Tracer
	// Audit writes the audit of a session, as an HTML page or as JSON; nil disables audits. The share
	// is that of the reader, or nil for operators. Its error is session.ErrNotFound if the session does
	// not exist.
	Audit func(ctx context.Context, w io.Writer, id string, html bool, share *session.Share) error
	// NewID returns an id for a request or a submission; the default is random.
	NewID func() string
}

// DefaultOverdue is the default of Options.OverdueAfter.
const DefaultOverdue = 10 * time.Minute

// Server is the http.Handler of an interview service. It is safe for concurrent
// use.
type Server struct {
	options Options
	deps    Deps
	handler http.Handler
	// distrusted warns once of a proxy that is not trusted.
	distrusted sync.Once
	// draining is set while the server shuts down.
	draining atomic.Bool
	busy     busy
	keys     access.Keys
	starts   starts[netip.Prefix]
	// triesOf limits the attempts with codes of each identifier, and triesFrom those of each address.
	triesOf   starts[string]
	triesFrom starts[netip.Prefix]
}

// New returns a server.
func New(o Options, d Deps) (*Server, error) {
	if d.Service == nil || d.Store == nil || d.Clock == nil {
		return nil, errors.New("create the interview server: a service, a store and a clock are required")
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.NewID == nil {
		d.NewID = rand.Text
	}
	if len(o.Languages) == 0 {
		o.Languages = session.Languages()
	}
	for _, l := range o.Languages {
		if !slices.Contains(session.Languages(), l) {
			return nil, fmt.Errorf("create the interview server: unknown language %q", l)
		}
	}
	if len(o.Secrets) == 0 {
		o.Secrets = []string{rand.Text() + rand.Text()}
	}
	keys, err := access.NewKeys(o.Secrets...)
	if err != nil {
		return nil, fmt.Errorf("create the interview server: %w", err)
	}
	o.LinkTime = orElse(o.LinkTime, 30*24*time.Hour)
	o.AddressTime = orElse(o.AddressTime, 24*time.Hour)
	o.MaxBody = orElse(o.MaxBody, 256<<10)
	o.ReadHeaderTimeout = orElse(o.ReadHeaderTimeout, 10*time.Second)
	o.ReadTimeout = orElse(o.ReadTimeout, 30*time.Second)
	o.IdleTimeout = orElse(o.IdleTimeout, 2*time.Minute)
	o.WriteTimeout = orElse(o.WriteTimeout, 10*time.Minute)
	o.DrainTimeout = orElse(o.DrainTimeout, 90*time.Second)
	o.OverdueAfter = orElse(o.OverdueAfter, DefaultOverdue)
	if d.Metrics != nil {
		d.Metrics.stored.source.Store(&gaugeSource{store: d.Store, clock: d.Clock, overdue: o.OverdueAfter})
	}
	s := &Server{options: o, deps: d, keys: keys}
	s.triesOf.each, s.triesFrom.each, s.triesFrom.all = triesPerCandidate, triesPerAddress, triesInAll
	s.starts.each = max(0, cmp.Or(o.StartsPerMinute, DefaultStarts))
	s.starts.all = max(0, cmp.Or(o.AllStartsPerMinute, DefaultAllStarts))
	s.handler = s.observed(s.routes())
	return s, nil
}

func orElse[T ~int64](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, s.behindProxy(r))
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	// add registers the methods of a path; other methods get 405.
	add := func(path string, handlers map[string]http.HandlerFunc) {
		var allow []string
		for method, handle := range handlers {
			mux.HandleFunc(method+" "+path, handle)
			allow = append(allow, method)
			if method == http.MethodGet {
				allow = append(allow, http.MethodHead) // the mux handles it like GET
			}
		}
		slices.Sort(allow)
		mux.HandleFunc(path, s.notAllowed(strings.Join(allow, ", ")))
	}
	get := func(h http.HandlerFunc) map[string]http.HandlerFunc {
		return map[string]http.HandlerFunc{http.MethodGet: h}
	}
	add("/axiom", map[string]http.HandlerFunc{http.MethodPost: s.axiom})
	add("/healthz", get(s.healthz))
	add("/readyz", get(s.readyz))
	if s.deps.Metrics != nil {
		add("/metrics", get(s.guarded(s.deps.Metrics.Handler().ServeHTTP)))
	}
	if s.options.Token != "" {
		add("/sessions", get(s.guarded(s.sessions)))
		if s.deps.Audit != nil {
			add("/sessions/{session}/audit", get(s.guarded(s.audit)))
		}
	}
	if s.deps.Audit != nil {
		add("/audit/{share}", get(s.sharedAudit))
	}
	add("/{$}", map[string]http.HandlerFunc{http.MethodGet: s.start, http.MethodPost: s.begin})
	add("/jobs/{job}", map[string]http.HandlerFunc{http.MethodGet: s.start, http.MethodPost: s.begin})
	add("/s/{session}", map[string]http.HandlerFunc{http.MethodGet: s.interview, http.MethodPost: s.submit})
	add("/s/{session}/mine", get(s.mine))
	add("/s/{session}/export", get(s.export))
	add("/s/{session}/delete", map[string]http.HandlerFunc{http.MethodPost: s.erase})
	add("/r/{link}", get(s.openLink))
	add("/resume", map[string]http.HandlerFunc{http.MethodGet: s.resumeForm, http.MethodPost: s.resume})
	add("/forget", map[string]http.HandlerFunc{http.MethodPost: s.forget})
	add("/privacy", get(s.privacy))
	add(assetPath, get(assetHandler().ServeHTTP))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuseAny(w, r, newProblem(http.StatusNotFound, "not_found", "page not found"))
	})
	protect := http.NewCrossOriginProtection()
	protect.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuseAny(w, r, newProblem(http.StatusForbidden, "cross_origin", "cross-origin request"))
	}))
	return loopback.RequireHost(protect.Handler(mux), s.options.Hosts...)
}

func (s *Server) notAllowed(allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		s.refuse(w, r, newProblem(http.StatusMethodNotAllowed, "method_not_allowed", "allowed methods: "+allow))
	}
}

// refuse answers with a problem as JSON.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, f *problem) {
	noteOf(r).failed(f)
	f.write(w)
}

// refuseAny answers a browser with a page and others with JSON.
func (s *Server) refuseAny(w http.ResponseWriter, r *http.Request, f *problem) {
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.refusePage(w, r, f)
		return
	}
	s.refuse(w, r, f)
}

// guarded requires the token, if there is one.
func (s *Server) guarded(next http.HandlerFunc) http.HandlerFunc {
	if s.options.Token == "" {
		return next
	}
	want := sha256.Sum256([]byte(s.options.Token))
	return func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			_, token, ok = r.BasicAuth() // browsers ask the user for it
		}
		got := sha256.Sum256([]byte(token)) // equal lengths keep the comparison constant-time
		if !ok || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
			w.Header().Add("WWW-Authenticate", `Bearer realm="interviews"`)
			w.Header().Add("WWW-Authenticate", `Basic realm="interviews", charset="UTF-8"`)
			s.refuse(w, r, newProblem(http.StatusUnauthorized, "unauthorized",
				"send the token as Authorization: Bearer TOKEN, or as the password of Basic authentication"))
			return
		}
		next(w, r)
	}
}
