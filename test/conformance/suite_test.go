// Package conformance_test tests the scripted server with third-party clients. It is a
// separate module, so that users of rehearse do not download the vendors' clients.
package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

func TestMain(m *testing.M) {
	mcp.Main() // this binary is also the program of MCP servers over standard input and output
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "test/conformance")
}

// serve starts a scripted server on a loopback socket and returns the base URL
// of its only trial, and a function that reports what happened.
func serve(script string) (base string, report func() mocks.Report) {
	GinkgoHelper()
	var s mocks.Script
	Expect(yaml.Load([]byte(script), &s, yaml.WithKnownFields())).To(Succeed())
	program, err := mocks.Compile(s)
	Expect(err).NotTo(HaveOccurred())
	engine := mocks.NewEngine(program, mocks.EngineOptions{})
	server := &mocks.Server{}
	Expect(server.Attach("1", engine)).To(Succeed())
	listening := httptest.NewServer(server)
	DeferCleanup(listening.Close)
	report = func() mocks.Report {
		GinkgoHelper()
		listening.Close() // waits for running exchanges
		return engine.Report()
	}
	return listening.URL + "/t/1/v1", report
}

// httpClient returns a client with its own connections, which are closed at the end of the spec, so
// that no goroutine is left.
func httpClient() *http.Client {
	before := gleak.Goroutines()
	transport := &http.Transport{}
	DeferCleanup(func() {
		transport.CloseIdleConnections()
		Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
	})
	return &http.Client{Transport: transport}
}
