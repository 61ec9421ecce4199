package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"strconv"
	"sync"
	"syscall"

	"github.com/rehearse-dev/rehearse/clock"
)

// ServeHTTP implements http.Handler. The last element of the path is the name of a server. It panics with
// http.ErrAbortHandler for a request whose connection must be cut.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !e.enter() {
		http.Error(w, "the trial of this scripted MCP server has ended", http.StatusServiceUnavailable)
		return
	}
	defer e.active.Done()
	name := path.Base(r.URL.Path)
	for _, s := range e.servers {
		switch script := &e.program.servers[s.at]; {
		case script.Name != name:
		case script.Transport == Stdio:
			s.serveStream(w, r)
			return
		default:
			s.serveHTTP(w, r)
			return
		}
	}
	http.Error(w, fmt.Sprintf("there is no scripted MCP server %.100q here", name), http.StatusNotFound)
}

func (s *server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if s.refuses(r) {
		panic(http.ErrAbortHandler)
	}
	r = r.Clone(r.Context())
	wrong := s.checkPost(r)
	out := &guarded{ResponseWriter: w, marker: []byte(s.engine.marker), begin: s.issue}
	s.mu.Lock()
	current := s.current
	s.serial++
	id := strconv.Itoa(s.serial)
	s.links[id] = &link{ctx: r.Context(), cut: func() {
		out.cut()
		s.restart()
	}}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.links, id)
	}()
	r.Header.Set(linkHeader, id)
	current.http.ServeHTTP(out, r)
	if r.Method == http.MethodPost && wrong == nil {
		wrong = checkRefusal(out.status, out.Header(), out.text)
	}
	s.reportMistake(wrong)
	if out.isCut() {
		panic(http.ErrAbortHandler)
	}
}

// checkPost returns the first mistake in a request with a message, or nil. Clients try GET and DELETE, which a
// server need not support.
func (s *server) checkPost(r *http.Request) *mistake {
	if r.Method != http.MethodPost {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	r.Body = unread{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	if err != nil || len(body) == 0 || len(body) > maxBody {
		return nil // checkRefusal finds it
	}
	return s.checkHTTP(r.Header, body)
}

// refuses reports whether the server is down. The first refused handshake or call of a tool starts it again; what
// clients send on their own, such as notifications, streams and server/discover, does not.
func (s *server) refuses(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.down {
		return false
	}
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(io.LimitReader(r.Body, maxBody))
		method := methodOf(body)
		s.down = method != initialize && method != callTool
	}
	return true
}

// maxReason limits the reason of a refusal in a finding, in bytes.
const maxReason = 300

// guarded is a response that can be cut or malformed.
type guarded struct {
	http.ResponseWriter
	marker []byte
	begin  func(http.Header) // is called before the headers are sent
	status int
	text   []byte // the begin of the body, if the request was refused

	mu    sync.Mutex
	ended bool
}

// Unwrap lets http.ResponseController flush the response.
func (g *guarded) Unwrap() http.ResponseWriter { return g.ResponseWriter }

var errCut = errors.New("the scripted MCP server ended")

// WriteHeader implements http.ResponseWriter.
func (g *guarded) WriteHeader(status int) {
	g.begin(g.Header())
	g.status = status
	g.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (g *guarded) Write(p []byte) (int, error) {
	if g.status == 0 {
		g.begin(g.Header())
		g.status = http.StatusOK
	}
	if g.status >= http.StatusBadRequest && len(g.text) < maxReason {
		g.text = append(g.text, p[:min(len(p), maxReason-len(g.text))]...)
	}
	if g.isCut() {
		return 0, errCut
	}
	return writeGuarded(g.ResponseWriter, p, g.marker, "")
}

func (g *guarded) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
}

func (g *guarded) isCut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended
}

// writeGuarded writes a message, but only its part before the marker, and then end.
func writeGuarded(w io.Writer, message, marker []byte, end string) (int, error) {
	at := bytes.Index(message, marker)
	if at < 0 {
		return w.Write(message)
	}
	if _, err := io.WriteString(w, string(message[:at])+end); err != nil {
		return 0, err
	}
	return len(message), nil
}

// NewTransport returns a transport that connects an http.Client to an engine in process, without sockets.
// Latencies pass on the engine's clock. The host in a URL is ignored; the last element of its path is the name
// of a server.
func NewTransport(e *Engine) http.RoundTripper { return transport{e} }

type transport struct{ engine *Engine }

// RoundTrip implements http.RoundTripper. The answer is written by a goroutine that ends with the request or the
// engine.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := clock.Err(r.Context()); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	reader, writer := io.Pipe()
	w := &response{header: http.Header{}, body: writer, ready: make(chan struct{})}
	go t.serve(w, r)
	select {
	case <-w.ready:
	case <-r.Context().Done():
		_ = reader.Close()
		return nil, clock.Err(r.Context())
	}
	if w.status == 0 {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, ContentLength: -1, Body: reader, Request: r,
	}, nil
}

// serve answers a request. A cut connection is an error of the body.
func (t transport) serve(w *response, r *http.Request) {
	defer r.Body.Close()
	defer func() {
		cut := recover()
		if cut != nil && cut != http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
			panic(cut)
		}
		if cut == nil {
			w.WriteHeader(http.StatusOK)
			_ = w.body.Close()
			return
		}
		_ = w.body.CloseWithError(io.ErrUnexpectedEOF)
		w.once.Do(func() { close(w.ready) })
	}()
	t.engine.ServeHTTP(w, r)
}

// response is the response to a request in process.
type response struct {
	header, sent http.Header
	body         *io.PipeWriter
	once         sync.Once
	ready        chan struct{} // closed when status and sent are set, or the connection was cut
	status       int
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.ready)
	})
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// Flush implements http.Flusher.
func (w *response) Flush() { w.WriteHeader(http.StatusOK) }
