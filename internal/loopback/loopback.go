// Package loopback recognizes the hosts and addresses of this machine.
package loopback

import (
	"net/netip"
	"strings"
)

// Is reports whether a URL's host is this machine. Subdomains of "localhost" do not count: a
// resolver may return any address for them.
func Is(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
