package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxForwarded is the maximum number of addresses that are read from X-Forwarded-For.
const maxForwarded = 32

// forwardedProto is the header in which a proxy names the protocol of the client.
const forwardedProto = "X-Forwarded-Proto"

// behindProxy returns a request of a trusted proxy with the address of the client in RemoteAddr and only
// the last value of X-Forwarded-Proto, because the client can forge those before it. A request of
// another peer is returned without that header, and otherwise unchanged, whatever its headers are.
func (s *Server) behindProxy(r *http.Request) *http.Request {
	protocols := r.Header.Values(forwardedProto)
	peer, ok := hostAddress(r.RemoteAddr)
	trusted := ok && s.trusts(peer)
	if !trusted && len(protocols) == 0 {
		return r
	}
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	r.Header.Del(forwardedProto)
	if !trusted {
		s.distrusted.Do(func() {
			s.deps.Log.WarnContext(r.Context(), "a request with X-Forwarded-Proto came from an address that is not a trusted proxy; "+
				"links and cookies are those of HTTP (see --trusted-proxy)")
		})
		return r
	}
	list := strings.Split(strings.Join(protocols, ","), ",")
	r.Header.Set(forwardedProto, strings.TrimSpace(list[len(list)-1]))
	if client := clientAddress(r.Header.Values("X-Forwarded-For"), s.trusts); client.IsValid() {
		r.RemoteAddr = client.String()
	}
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
