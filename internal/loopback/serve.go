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
// sends from another origin.
func RequireLocal(next http.Handler, hosts []string) http.Handler {
	return RequireHost(http.NewCrossOriginProtection().Handler(next), hosts...)
}

// Serve serves on an address until ctx ends. It calls listening once it accepts
// connections; public reports whether other machines can connect, too.
func Serve(ctx context.Context, address string, handler http.Handler, listening func(base string, public bool)) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; choose another address with --listen", address, err)
	}
	ip, ok := listener.Addr().(*net.TCPAddr)
	listening("http://"+listener.Addr().String()+"/v1", ok && !ip.IP.IsLoopback())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", address, err)
	case <-ctx.Done():
	}
	err = server.Close()
	if serving := <-ended; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}
