package web

import (
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

var _ = DescribeTable("the address of a client",
	func(proxies, peer, forwarded, want string) {
		var s Server
		for p := range strings.FieldsSeq(proxies) {
			s.options.TrustedProxies = append(s.options.TrustedProxies, netip.MustParsePrefix(p))
		}
		r := httptest.NewRequest("POST", "/", nil)
		r.RemoteAddr = peer
		for line := range strings.SplitSeq(forwarded, "|") {
			if line != "" {
				r.Header.Add("X-Forwarded-For", line)
			}
		}
		Expect(addressOf(s.behindProxy(r)).String()).To(Equal(want))
		Expect(r.RemoteAddr).To(Equal(peer), "the request itself is not changed")
	},
	Entry("is that of the connection, if no proxy is trusted", "", "10.0.0.1:99", "203.0.113.7", "10.0.0.1/32"),
	Entry("is that of the connection, if another peer sends the header", "10.0.0.1/32", "10.0.0.2:99", "203.0.113.7", "10.0.0.2/32"),
	Entry("is the one that a trusted proxy adds", "10.0.0.0/8", "10.0.0.1:99", "203.0.113.7", "203.0.113.7/32"),
	Entry("is the last one, because the client may send the others", "10.0.0.0/8", "10.0.0.1:99", "1.2.3.4, 203.0.113.7", "203.0.113.7/32"),
	Entry("is the last one of several headers", "10.0.0.0/8", "10.0.0.1:99", "1.2.3.4|203.0.113.7", "203.0.113.7/32"),
	Entry("is before all trusted proxies", "10.0.0.0/8", "10.0.0.1:99", "1.2.3.4, 203.0.113.7, 10.9.9.9", "203.0.113.7/32"),
	Entry("is that of the proxy, if it names none", "10.0.0.0/8", "10.0.0.1:99", "", "10.0.0.1/32"),
	Entry("is that of the proxy, if it names itself only", "10.0.0.0/8", "10.0.0.1:99", "10.0.0.3", "10.0.0.1/32"),
	Entry("is that of the proxy, if the name is unreadable", "10.0.0.0/8", "10.0.0.1:99", "203.0.113.7, unknown", "10.0.0.1/32"),
	Entry("is a network in IPv6", "::1/128", "[::1]:99", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
	Entry("may have a port and brackets", "::1/128", "[::1]:99", "[2001:db8::5]:443", "2001:db8::/64"),
	Entry("may be IPv4 in IPv6", "127.0.0.1/32", "[::ffff:127.0.0.1]:99", "::ffff:203.0.113.7", "203.0.113.7/32"),
)

var _ = DescribeTable("the protocol of a client",
	func(peer, header string, secure, warned bool) {
		var log strings.Builder
		s := Server{deps: Deps{Log: slog.New(slog.NewTextHandler(&log, nil))}}
		s.options.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		r := httptest.NewRequest("POST", "/", nil)
		r.RemoteAddr = peer
		for line := range strings.SplitSeq(header, "|") {
			if line != "" {
				r.Header.Add("X-Forwarded-Proto", line)
			}
		}
		before := r.Header.Clone()
		for range 2 {
			Expect(isSecure(s.behindProxy(r))).To(Equal(secure))
		}
		Expect(r.Header).To(Equal(before), "the request itself is not changed")
		Expect(strings.Count(log.String(), "trusted proxy")).To(Equal(map[bool]int{true: 1}[warned]))
	},
	Entry("is that of a trusted proxy", "10.0.0.1:99", "https", true, false),
	Entry("is HTTP, if a trusted proxy says so", "10.0.0.1:99", "http", false, false),
	Entry("is HTTP, if a trusted proxy says nothing", "10.0.0.1:99", "", false, false),
	Entry("is the last one, because the client may send the others", "10.0.0.1:99", "https, http", false, false),
	Entry("is the last one of several headers", "10.0.0.1:99", "http|HTTPS", true, false),
	Entry("is that of the connection, if another peer sends the header", "192.0.2.1:99", "https", false, true),
	Entry("is that of the connection, without the header", "192.0.2.1:99", "", false, false),
	Entry("is that of the connection, without an address", "@", "https", false, true),
)

// What the client sends before what the proxies append never counts.
func TestForwardedAddressCannotBeForged(t *testing.T) {
	trusted := netip.MustParsePrefix("10.0.0.0/8")
	rapid.Check(t, func(t *rapid.T) {
		forged := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom([]string{"10.0.0.9", "1.2.3.4", "", "x"}), rapid.String())).Draw(t, "forged")
		proxies := rapid.SliceOfN(rapid.SampledFrom([]string{"10.0.0.9", "10.200.0.1"}), 0, 5).Draw(t, "proxies")
		header := strings.Join(append(append(forged, "203.0.113.7"), proxies...), ", ")
		if got := clientAddress([]string{header}, trusted.Contains); got != netip.MustParseAddr("203.0.113.7") {
			t.Fatalf("%q comes from %s", header, got)
		}
	})
}
