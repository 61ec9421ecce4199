// Package conformance_test shows the scripted server to clients that were not
// written for it. It is a module of its own, so that nobody who uses rehearse
// downloads the vendors' own clients.
package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/mocks"
)

func TestConformance(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "test/conformance")
}

// serve starts a scripted server on a loopback socket and returns the base URL
// of its one trial, and what happened there.
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
		listening.Close() // waits for the exchanges under way
		return engine.Report()
	}
	return listening.URL + "/t/1/v1", report
}

// httpClient has connections of its own, closed at the spec's end; then no
// goroutine may be left.
func httpClient() *http.Client {
	before := gleak.Goroutines()
	transport := &http.Transport{}
	DeferCleanup(func() {
		transport.CloseIdleConnections()
		Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
	})
	return &http.Client{Transport: transport}
}
