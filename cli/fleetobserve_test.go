package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// get returns the status and the body of a page.
func (f *testFleet) get(address string) (int, string) {
	f.t.Helper()
	resp, err := http.Get(address)
	f.Expect(err).NotTo(gomega.HaveOccurred())
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	f.Expect(err).NotTo(gomega.HaveOccurred())
	return resp.StatusCode, string(body)
}

var metricsAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// metricsOf waits until a worker serves metrics, and returns the address.
func (f *testFleet) metricsOf(worker *process) string {
	f.t.Helper()
	f.Eventually(worker.output.String).Should(gomega.ContainSubstring("metrics are at "))
	return metricsAddress.FindString(worker.output.String())
}

// collector is an OTLP collector on loopback, which remembers what it received.
func (f *testFleet) collector() *syncedBuffer {
	f.t.Helper()
	var received syncedBuffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = received.Write(body)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	f.t.Cleanup(server.Close)
	f.t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return &received
}

// TestFleetIsObserved is H-04: a worker has metrics, health checks and spans.
func TestFleetIsObserved(t *testing.T) {
	f := newFleet(t)
	f.scenario("wrong", "echo nonsense", "")
	received := f.collector()
	worker := f.worker("--metrics", "127.0.0.1:0")
	address := f.metricsOf(worker)
	f.Eventually(func() int { code, _ := f.get(address + "/readyz"); return code }).Should(gomega.Equal(http.StatusOK))
	code, text := f.get(address + "/healthz")
	f.Expect(code).To(gomega.Equal(http.StatusOK), text)
	f.exits(f.run("spread", "slow", "wrong", "--trials", "5"), exitFail)
	_, text = f.get(address + "/metrics")
	for _, line := range []string{
		`rehearse_worker_trials_total{verdict="pass"} 5`, `rehearse_worker_trials_total{verdict="fail"} 5`,
		"rehearse_worker_running_jobs 0", "rehearse_worker_slots 2", "rehearse_worker_database_errors_total 0",
	} {
		f.Expect(strings.Split(text, "\n")).To(gomega.ContainElement(line))
	}
	f.Expect(text).To(gomega.MatchRegexp(`rehearse_worker_jobs_total{outcome="stored"} [1-9]`))
	f.Expect(text).To(gomega.MatchRegexp(`rehearse_worker_beat_age_seconds [0-9]`))
	f.Expect(worker.Process.Signal(os.Interrupt)).To(gomega.Succeed())
	f.exits(worker, exitInterrupted)
	f.Expect(received.String()).To(gomega.And(gomega.ContainSubstring("rehearse-worker"),
		gomega.ContainSubstring("rehearse.first_trial"), gomega.ContainSubstring("stored")))
	f.Expect(received.String()).NotTo(gomega.ContainSubstring("nonsense"))
}

// TestFleetRefusesBadAddresses is H-04: an address of metrics that cannot be used is an error of usage.
func TestFleetRefusesBadAddresses(t *testing.T) {
	f := newFleet(t)
	for address, want := range map[string]string{"9464": `--metrics "9464" is not an address with a port`, "192.0.2.1:1": "choose another address with --metrics"} {
		worker := f.worker("--metrics", address)
		f.exits(worker, exitUsage)
		f.Expect(worker.output.String()).To(gomega.ContainSubstring(want))
	}
}
