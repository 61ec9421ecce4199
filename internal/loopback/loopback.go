// Package loopback tells this machine from all others.
package loopback

import (
	"net/netip"
	"strings"
)

// Is reports whether a URL's host is this machine. Names below "localhost" do not
// count: a resolver may send them anywhere.
func Is(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
