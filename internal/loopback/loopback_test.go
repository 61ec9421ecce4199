package loopback_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/loopback"
)

func TestLoopback(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/loopback")
}

var _ = DescribeTable("a host",
	func(host string, want bool) { Expect(loopback.Is(host)).To(Equal(want)) },
	Entry("the name", "localhost", true),
	Entry("the name in another case", "LocalHost", true),
	Entry("the usual address", "127.0.0.1", true),
	Entry("another address of 127/8", "127.9.9.9", true),
	Entry("IPv6", "::1", true),
	Entry("IPv4 within IPv6", "::ffff:127.0.0.1", true),
	Entry("nothing", "", false),
	Entry("a subdomain", "a.localhost", false),
	Entry("a trailing dot", "localhost.", false),
	Entry("all interfaces", "0.0.0.0", false),
	Entry("a private network", "10.0.0.1", false),
	Entry("an address as a subdomain", "127.0.0.1.example.com", false),
	Entry("an address as a number", "2130706433", false),
)
