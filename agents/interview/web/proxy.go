package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxForwarded is the maximum number of addresses that are read from X-Forwarded-For.
const maxForwarded = 32

// behindProxy returns a request that comes from a trusted proxy with the address of the client in
// RemoteAddr. Other requests are returned unchanged, whatever their headers are.
func (s *Server) behindProxy(r *http.Request) *http.Request {
	if len(s.options.TrustedProxies) == 0 {
		return r
	}
	peer, ok := hostAddress(r.RemoteAddr)
	if !ok || !s.trusts(peer) {
		return r
	}
	client := clientAddress(r.Header.Values("X-Forwarded-For"), s.trusts)
	if !client.IsValid() {
		return r
	}
	r = r.WithContext(r.Context())
	r.RemoteAddr = client.String()
	return r
}

func (s *Server) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(s.options.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// clientAddress returns the last address that no trusted proxy has; proxies append, so that the client can
// forge the addresses before it. It is invalid if there is none, or if one behind it cannot be read.
func clientAddress(forwarded []string, trusts func(netip.Addr) bool) netip.Addr {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for range maxForwarded {
		if len(hops) == 0 {
			break
		}
		last := len(hops) - 1
		address, ok := hostAddress(strings.TrimSpace(hops[last]))
		if !ok || !trusts(address) {
			return address
		}
		hops = hops[:last]
	}
	return netip.Addr{}
}

// hostAddress reads an address, with or without a port.
func hostAddress(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		with, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		address = with.Addr()
	}
	return address.Unmap().WithZone(""), true
}
