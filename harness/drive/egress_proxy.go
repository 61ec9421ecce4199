package drive

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// maxHosts limits how many hosts are remembered.
const maxHosts = 100

// egressProxy is a forward proxy that lets nothing out: it answers requests to stubbed hosts and refuses all others, CONNECT,
// as for https, and requests with a whole URL, as for http. It is safe for concurrent use.
type egressProxy struct {
	server *http.Server
	url    string
	hosts  scenarios.Hosts
	onHost func(host, path string)
	issuer *issuer // nil without stubs
	ended  chan error
	open   sync.WaitGroup // tunnels to stubbed hosts

	mu      sync.Mutex
	seen    map[string]bool // at most maxHosts
	tunnels map[net.Conn]bool
}

// listenProxy starts a proxy on a listener, or on a loopback port of its own if that is nil.
// It calls onHost, which may be nil, at the first request for each host that the scenario does not name, before the client
// is refused; a host is "name:port", and the path empty for a CONNECT.
func listenProxy(on net.Listener, hosts scenarios.Hosts, onHost func(host, path string)) (*egressProxy, error) {
	p := &egressProxy{hosts: hosts, onHost: onHost, seen: map[string]bool{}, tunnels: map[net.Conn]bool{}, ended: make(chan error, 1)}
	var err error
	if len(hosts.Stub) > 0 {
		if p.issuer, err = newIssuer(); err != nil {
			return nil, err
		}
	}
	if on == nil {
		if on, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, fmt.Errorf("listen for what the agent sends to other machines: %w", err)
		}
	}
	p.url = "http://" + on.Addr().String()
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() { p.ended <- p.server.Serve(on) }()
	return p, nil
}

// Env returns the usual variables for a proxy, as NAME=value. Clients do not use it for
// this machine's own addresses. With stubs, they also name the file with the certificate to trust, which Env writes into folder.
func (p *egressProxy) Env(folder string) ([]string, error) {
	const ours = "127.0.0.1,localhost,::1"
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+p.url, strings.ToLower(name)+"="+p.url)
	}
	// Node's own fetch uses these variables only with NODE_USE_ENV_PROXY.
	env = append(env, "NO_PROXY="+ours, "no_proxy="+ours, "NODE_USE_ENV_PROXY=1")
	if p.issuer == nil {
		return env, nil
	}
	file := filepath.Join(folder, "stubbed-hosts.pem")
	if err := os.WriteFile(file, p.issuer.pem, 0o600); err != nil {
		return nil, fmt.Errorf("write the certificate of stubbed hosts: %w", err)
	}
	for _, name := range []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"} {
		env = append(env, name+"="+file)
	}
	return env, nil
}

// Close ends the proxy.
func (p *egressProxy) Close() error {
	err := p.server.Close()
	p.mu.Lock()
	for conn := range p.tunnels {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.open.Wait()
	if serving := <-p.ended; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}

// ServeHTTP implements http.Handler.
func (p *egressProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := hostOf(r)
	if r.Method == http.MethodConnect && p.issuer != nil && p.hosts.Stubs(host) != nil {
		p.tunnel(w, host)
		return
	}
	if text, ok := p.hosts.Stubbed(host, r.URL.Path); ok && r.Method != http.MethodConnect {
		answerStub(w, text)
		return
	}
	if !p.hosts.Refuses(host) {
		path := ""
		if r.Method != http.MethodConnect {
			path = cmp.Or(r.URL.Path, "/")
		}
		p.report(host, path)
	}
	w.Header().Set("Connection", "close")
	http.Error(w,
		"This proxy lets nothing out: a rehearsed agent calls its scripted backend and no other host, such as "+host+".", http.StatusForbidden)
}

func (p *egressProxy) report(host, path string) {
	p.mu.Lock()
	first := !p.seen[host] && len(p.seen) < maxHosts
	if first {
		p.seen[host] = true
	}
	p.mu.Unlock()
	if first && p.onHost != nil {
		p.onHost(host, sanitize.Line(path, 255))
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
