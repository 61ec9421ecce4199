package loopback_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/loopback"
)

var _ = DescribeTable("a request whose Host header is",
	func(host string, want int) {
		handler := loopback.RequireHost(http.NotFoundHandler(), "mock.internal")
		local := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8080}
		r := httptest.NewRequest(http.MethodGet, "http://other.example/", nil)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(local)))
		r.Host = host
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		Expect(w.Code).To(Equal(want))
		if want == http.StatusMisdirectedRequest {
			Expect(w.Body.String()).To(ContainSubstring("--host"))
		}
	},
	Entry("the name", "localhost", 404),
	Entry("with a port", "LOCALHOST:8080", 404),
	Entry("an address with a port", "127.0.0.1:1", 404),
	Entry("an address of 127/8", "127.9.9.9", 404),
	Entry("IPv6 with a port", "[::1]:8080", 404), Entry("IPv6", "[::1]", 404),
	Entry("the address of the connection", "192.0.2.7:8080", 404), Entry("another address", "192.0.2.8:8080", 421),
	Entry("a name that is allowed", "mock.internal:8080", 404), Entry("it in another case", "Mock.Internal", 404),
	Entry("another name", "evil.example:8080", 421), Entry("a name below localhost", "a.localhost", 421),
	Entry("a name that begins as an allowed one", "mock.internal.evil.example", 421),
	Entry("a name that ends in an address", "evil.127.0.0.1.example", 421),
	Entry("none", "", 421), Entry("a port alone", ":8080", 421), Entry("brackets", "[]", 421),
)
