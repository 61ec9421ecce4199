// Package httpserve serves clients on this machine.
package httpserve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/loopback"
)

// CheckHosts refuses texts that are not host names.
func CheckHosts(hosts []string) error {
	for _, h := range hosts {
		if h == "" || strings.ContainsAny(h, "/@ ") || strings.Count(h, ":") == 1 {
			return fmt.Errorf("--host %q: give a name without a scheme and a port, such as host.docker.internal", h)
		}
	}
	return nil
}

// Local keeps web pages from using a server on this machine: it answers only requests whose
// Host header names this machine or one of hosts, and refuses those that a browser sends from
// another origin.
func Local(next http.Handler, hosts []string) http.Handler {
	return loopback.RequireHost(http.NewCrossOriginProtection().Handler(next), hosts...)
}

// Serve answers on an address until ctx ends. listening is called when it can be reached;
// public says whether other machines can reach it, too.
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
