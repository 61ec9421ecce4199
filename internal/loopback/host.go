package loopback

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// RequireHost returns a handler that passes a request on to next only if its Host
// header names this machine: a name or an address of the loopback interface, the
// address at which the connection arrived, or one of names (without a port, in any
// case). Every other request is answered with 421 Misdirected Request. A web page whose name an attacker
// makes resolve to 127.0.0.1 (DNS rebinding) is same-origin for the browser, but its
// requests carry that name in the Host header.
func RequireHost(next http.Handler, names ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := CheckHost(r, names...); err != nil {
			http.Error(w, err.Error(), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// CheckHost returns an error for a request that RequireHost does not pass on.
func CheckHost(r *http.Request, names ...string) error {
	host := hostname(r.Host)
	if Is(host) || isLocalAddress(r, host) || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, host) }) {
		return nil
	}
	return fmt.Errorf("this server does not answer for the host %.100q; name it with --host to allow it", host)
}

// hostname returns a Host header's value without its port and the brackets of an
// IPv6 address.
func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	return host
}

// isLocalAddress reports whether host is the IP address at which the request's
// connection arrived. An address cannot be rebound, since it is not resolved.
func isLocalAddress(r *http.Request, host string) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	want, err := netip.ParseAddr(host)
	at, err2 := netip.ParseAddrPort(local.String())
	return err == nil && err2 == nil && at.Addr().Unmap() == want.Unmap()
}
