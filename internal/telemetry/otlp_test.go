package telemetry

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
)

func TestTelemetry(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "telemetry")
}

var _ = DescribeTable("spans are exported where the environment asks for it",
	func(env map[string]string, want bool) {
		Expect(otlpConfigured(func(key string) string { return env[key] })).To(Equal(want))
	},
	Entry("no variables", map[string]string{}, false),
	Entry("an endpoint", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, true),
	Entry("an endpoint of spans", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, true),
	Entry("switched off", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}, false),
	Entry("no exporter", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "none"}, false),
	Entry("another exporter", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "zipkin"}, false),
	Entry("this exporter", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "otlp"}, true),
)

var _ = It("sends the remaining spans when it closes, with the name of the service", func(ctx context.Context) {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
	received := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 1<<16)
		n, _ := r.Body.Read(body)
		received <- r.URL.Path + " " + string(body[:n])
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	DeferCleanup(collector.Close)
	GinkgoT().Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	GinkgoT().Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
	GinkgoT().Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")

	provider, closing, err := newOTLP(ctx, "interviews")
	Expect(err).NotTo(HaveOccurred())
	_, span := provider.Tracer("t").Start(ctx, "a step")
	span.End()
	Expect(received).To(BeEmpty())
	Expect(closing(ctx)).To(Succeed())
	Expect(received).To(Receive(And(HavePrefix("/v1/traces "),
		ContainSubstring("a step"), ContainSubstring("interviews"), ContainSubstring("deployment.environment.name"))))
})

var _ = DescribeTable("names the invalid variable",
	func(ctx context.Context, name, value, want string) {
		GinkgoT().Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
		GinkgoT().Setenv(name, value)
		_, _, err := newOTLP(ctx, "interviews")
		Expect(err).To(MatchError(And(ContainSubstring(name), ContainSubstring(want))))
	},
	Entry("attributes", "OTEL_RESOURCE_ATTRIBUTES", "%zz", "describe this service"),
	Entry("endpoint without a scheme", "OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "must be an http or https URL"),
	Entry("endpoint of traces", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://x", "must be an http or https URL"),
	Entry("headers", "OTEL_EXPORTER_OTLP_HEADERS", "secret", "key=value"),
	Entry("timeout", "OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "milliseconds"),
	Entry("certificate", "OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere/ca.pem", "/nowhere/ca.pem"),
)
