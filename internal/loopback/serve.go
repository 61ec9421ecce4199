package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// CheckHosts returns an error for a --host that is not a host name.
func CheckHosts(hosts []string) error {
	for _, h := range hosts {
		if h == "" || strings.ContainsAny(h, "/@ ") || strings.Count(h, ":") == 1 {
			return fmt.Errorf("--host %q: give a name without a scheme and a port, such as host.docker.internal", h)
		}
	}
	return nil
}

// RequireLocal protects a server on this machine from web pages: it answers only requests
// whose Host header names this machine or one of hosts, and refuses requests that a browser
// sends from another origin, except from origins, which CheckOrigins accepts. advice ends the message about a refused
// origin; may be empty.
func RequireLocal(next http.Handler, hosts, origins []string, advice string) http.Handler {
	if len(origins) > 0 {
		next = allowOrigins(next, origins)
	}
	protection := http.NewCrossOriginProtection()
	for _, origin := range origins {
		_ = protection.AddTrustedOrigin(origin) // an invalid one is not trusted
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		message := fmt.Sprintf("this server does not answer web pages of the origin %.100q%s", r.Header.Get("Origin"), advice)
		http.Error(w, message, http.StatusForbidden)
	}))
	return RequireHost(protection.Handler(next), hosts...)
}

// Listen listens on the address of --listen, such as 127.0.0.1:8080.
func Listen(address string) (net.Listener, error) { return ListenAs("--listen", address) }

// ListenAs listens on the address of a flag, which errors name.
func ListenAs(flag, address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("%s %q is not an address with a port; write for example 127.0.0.1:8080", flag, address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; choose another address with %s", address, err, flag)
	}
	return listener, nil
}

// Protocols returns HTTP/1 and HTTP/2 without TLS, which Amazon's client for Node requires.
func Protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	return p
}

// Serve serves on a listener until ctx ends, and closes it. It calls listening once it accepts
// connections; public reports whether other machines can connect, too.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, listening func(base string, public bool)) error {
	ip, ok := listener.Addr().(*net.TCPAddr)
	listening("http://"+listener.Addr().String()+"/v1", ok && !ip.IP.IsLoopback())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, Protocols: Protocols()}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	err := server.Close()
	if serving := <-ended; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}
