package drive

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// maxHosts limits how many hosts are remembered.
const maxHosts = 100

// refusingProxy is a forward proxy that refuses every request: CONNECT, as for https, and
// requests with a whole URL, as for http. It is safe for concurrent use.
type refusingProxy struct {
	server *http.Server
	url    string
	onHost func(host string)
	ended  chan error

	mu   sync.Mutex
	seen map[string]bool // at most maxHosts
}

// listenProxy starts a proxy on a listener, or on a loopback port of its own if that is nil.
// It calls onHost, which may be nil, at the first request for each host, before the client
// is refused; a host is "name:port".
func listenProxy(on net.Listener, onHost func(host string)) (*refusingProxy, error) {
	if on == nil {
		var err error
		if on, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, fmt.Errorf("listen for what the agent sends to other machines: %w", err)
		}
	}
	p := &refusingProxy{onHost: onHost, url: "http://" + on.Addr().String(), seen: map[string]bool{}, ended: make(chan error, 1)}
	p.server = &http.Server{Handler: http.HandlerFunc(p.refuse), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() { p.ended <- p.server.Serve(on) }()
	return p, nil
}

// Env returns the usual variables for a proxy, as NAME=value. Clients do not use it for
// this machine's own addresses.
func (p *refusingProxy) Env() []string {
	const ours = "127.0.0.1,localhost,::1"
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+p.url, strings.ToLower(name)+"="+p.url)
	}
	// Node's own fetch uses these variables only with NODE_USE_ENV_PROXY.
	return append(env, "NO_PROXY="+ours, "no_proxy="+ours, "NODE_USE_ENV_PROXY=1")
}

// Close ends the proxy.
func (p *refusingProxy) Close() error {
	err := p.server.Close()
	if serving := <-p.ended; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}

// refuse refuses a request and remembers the host.
func (p *refusingProxy) refuse(w http.ResponseWriter, r *http.Request) {
	host := hostOf(r)
	p.report(host)
	w.Header().Set("Connection", "close")
	http.Error(w,
		"This proxy lets nothing out: a rehearsed agent calls its scripted backend and no other host, such as "+host+".", http.StatusForbidden)
}

func (p *refusingProxy) report(host string) {
	p.mu.Lock()
	first := !p.seen[host] && len(p.seen) < maxHosts
	if first {
		p.seen[host] = true
	}
	p.mu.Unlock()
	if first && p.onHost != nil {
		p.onHost(host)
	}
}

// hostOf returns the host of a request, with its port.
func hostOf(r *http.Request) string {
	host, port := r.Host, "80"
	if r.URL.Host != "" {
		host = r.URL.Host
	}
	if r.Method == http.MethodConnect || r.URL.Scheme == "https" {
		port = "443"
	}
	host = sanitize.Line(strings.ToLower(host), 255)
	if name, p, err := net.SplitHostPort(host); err == nil && p != "" {
		host, port = name, p
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}
