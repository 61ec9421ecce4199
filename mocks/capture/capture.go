// Package capture is a recording proxy for a real backend. It forwards requests and answers
// immediately and unchanged, and stores them without their secrets on a tape. From a tape it creates
// a script that replays the conversation.
package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// maxBody limits stored requests and answers, in bytes. Longer ones are forwarded only.
const maxBody = 32 << 20

// maxAhead limits the buffer that a Content-Length allocates.
const maxAhead = 1 << 20

// Options configures a Proxy.
type Options struct {
	// Upstream is the root of the backend's API, with or without /v1 at its end.
	Upstream string
	// Offline forbids upstreams on other machines.
	Offline bool
	// Clock for the gaps; default clock.Real.
	Clock clock.Clock
	// Transport for the requests; default like http.DefaultTransport.
	Transport http.RoundTripper
	// Frames records the boundaries and gaps of answers.
	Frames bool
	// Secrets has values to remove, in addition to secrets of well-known forms and the clients'
	// keys. See redact.SecretsIn.
	Secrets []string
	// Unredacted disables the removal of secrets.
	Unredacted bool
	// First is the number of the first exchange; 0 means 1.
	First int
	// Keep stores an exchange at its end, before the client notices the end. It must be safe for
	// concurrent use. After an error the proxy cuts the connection, because the client must not
	// rely on an exchange that was not stored.
	Keep func(tape.Exchange) error
}

// Proxy is an http.Handler that forwards requests to an upstream.
type Proxy struct {
	opts     Options
	upstream *url.URL
	forward  *httputil.ReverseProxy
	last     atomic.Int64 // number of the last exchange
	active   sync.WaitGroup
}

// Validate returns an error if the upstream cannot be used.
func (o *Options) Validate() error {
	_, err := parseUpstream(o.Upstream, o.Offline)
	return err
}

// Host returns the upstream's host, with the port if it has one; empty if it is not valid.
func (o *Options) Host() string {
	u, err := parseUpstream(o.Upstream, o.Offline)
	if err != nil {
		return ""
	}
	return u.Host
}

// Address returns the URL of a path, which begins with /v1 and may have a query.
func (o *Options) Address(path string) (string, error) {
	u, err := parseUpstream(o.Upstream, o.Offline)
	if err != nil {
		return "", err
	}
	path, query, _ := strings.Cut(path, "?")
	u.Path, u.RawQuery = below(u, path), query
	return u.String(), nil
}

// New returns a proxy, or an error if the options are not valid.
func New(o Options) (*Proxy, error) {
	upstream, err := parseUpstream(o.Upstream, o.Offline)
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.Real()
	}
	if o.Transport == nil {
		o.Transport = transport()
	}
	p := &Proxy{opts: o, upstream: upstream}
	p.last.Store(int64(max(o.First, 1) - 1))
	p.forward = &httputil.ReverseProxy{
		Rewrite: p.rewrite, Transport: o.Transport, ModifyResponse: tap, ErrorHandler: unreachable,
		FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // unreachable reports errors
	}
	return p, nil
}

// parseUpstream reads the root of an API.
func parseUpstream(text string, offline bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errors.New("the upstream is missing; give the root of an API, such as https://api.openai.com/v1")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		// The error of the parser could contain a password.
		return nil, errors.New("the upstream is not of the form https://host/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the upstream must not have a user, a query or a fragment; the client sends the key")
	case offline && !loopback.Is(u.Hostname()):
		return nil, fmt.Errorf("the upstream %q is not on this machine: REHEARSE_OFFLINE forbids it; "+
			"unset it to capture a live backend", u.Hostname())
	}
	return u, nil
}

// transport returns http.DefaultTransport without compression, which would delay a stream and change
// its pieces.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	t.MaxIdleConnsPerHost = t.MaxIdleConns
	return t
}

// rewrite addresses a client's request to the upstream.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = p.upstream.Scheme, p.upstream.Host, p.upstream.Host
	r.Out.URL.Path, r.Out.URL.RawPath = below(p.upstream, r.In.URL.Path), ""
	r.Out.Header.Set("Accept-Encoding", "identity")
	r.Out.Header.Del("Expect") // the body is already here
}

// below returns the path at the upstream. Unlike the client's root, the upstream's need not end in
// /v1 or /v1beta, and native protocols ignore it.
func below(upstream *url.URL, path string) string {
	root := strings.TrimSuffix(upstream.Path, "/")
	if codec, ok := wire.ForPath(http.MethodPost, path); ok && codec.Dialect().Native {
		return strings.TrimSuffix(root, "/v1") + path
	}
	for _, version := range []string{"/v1", "/v1beta"} {
		if below, ok := strings.CutPrefix(path, version+"/"); ok && strings.HasSuffix(root, version) {
			return root + "/" + below
		}
	}
	if strings.HasPrefix(path, "/v1beta") { // Google's paths have their own version
		root = strings.TrimSuffix(root, "/v1")
	}
	return root + path
}

// Wait waits until all exchanges are stored. Call it after closing the server, which ends the open
// exchanges.
func (p *Proxy) Wait() { p.active.Wait() }

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.active.Add(1)
	defer p.active.Done()
	if r.Header.Get("Upgrade") != "" {
		refuse(w, http.StatusNotImplemented, "a capture forwards only HTTP; configure the client to use no web socket")
		return
	}
	codec, ok := wire.ForPath(r.Method, pathOf(r))
	if ok && codec.Protocol() == "openai-files" && r.Header.Get("Anthropic-Version") != "" {
		ok = false // Anthropic's files have another form
	}
	if !ok {
		if _, err := readAhead(r); err != nil {
			panic(http.ErrAbortHandler)
		}
		p.forward.ServeHTTP(w, r)
		return
	}
	if declined(w, r, codec) {
		return
	}
	x := p.begin(r, codec)
	ended := false
	defer func() {
		// After a panic the connection is cut already: the client or the upstream has left.
		if err := p.opts.Keep(p.exchange(x)); err != nil && ended {
			panic(http.ErrAbortHandler)
		}
	}()
	r = x.request(r)
	if x.asked, x.unread = readAhead(r); x.unread != nil {
		panic(http.ErrAbortHandler)
	}
	p.forward.ServeHTTP(w, r)
	ended = true
}

// readAhead reads a request's body and replaces it by a copy. It cannot be read while it is forwarded:
// when an answer begins, the server of net/http closes the body of the request, and a transport that
// has not read the end of the body then cuts the answer off.
func readAhead(r *http.Request) (body []byte, err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	var b bytes.Buffer
	if 0 < r.ContentLength && r.ContentLength <= maxAhead {
		b.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err = b.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	body = b.Bytes()
	switch {
	case err != nil:
	case len(body) > maxBody: // the rest is forwarded as it arrives
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
	default:
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return body, err
}

// finder returns the finder of secrets for a client with these keys.
func (p *Proxy) finder(keys []string) finder {
	if p.opts.Unredacted {
		return func(string) []redact.Secret { return nil }
	}
	return redact.New(append(keys, p.opts.Secrets...)).Find
}
