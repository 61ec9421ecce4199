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
	Entry(nil, "localhost", true), Entry(nil, "LocalHost", true), Entry(nil, "127.0.0.1", true),
	Entry(nil, "127.9.9.9", true), Entry(nil, "::1", true), Entry(nil, "::ffff:127.0.0.1", true),
	Entry(nil, "", false), Entry(nil, "a.localhost", false), Entry(nil, "localhost.", false), Entry(nil, "0.0.0.0", false),
	Entry(nil, "10.0.0.1", false), Entry(nil, "127.0.0.1.example.com", false), Entry(nil, "2130706433", false),
)
