package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector answers the requests of a client one after the other, a status of 0 with a
// time-out and -1 with a refused connection.
type collector struct {
	statuses []int
	after    string // Retry-After
	requests []*http.Request
	bodies   []string
}

func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.requests, c.bodies = append(c.requests, r), append(c.bodies, string(body))
	status := c.statuses[len(c.requests)-1]
	switch status {
	case 0:
		return nil, os.ErrDeadlineExceeded
	case -1:
		return nil, syscall.ECONNREFUSED
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Request: r, Body: io.NopCloser(strings.NewReader("because")),
		Header: http.Header{"Retry-After": {c.after}},
	}, nil
}

func (c *collector) upload(t *testing.T, env map[string]string) error {
	t.Helper()
	spans := []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{
		{Name: "a step", TraceId: bytes.Repeat([]byte{0xab}, 16), SpanId: bytes.Repeat([]byte{1}, 8)},
	}}}}}
	return uploadThrough(t.Context(), func(name string) string { return env[name] }, c, spans)
}

func TestRepeatsWhatMaySucceedLater(t *testing.T) {
	g := NewWithT(t)
	synctest.Test(t, func(t *testing.T) {
		c := &collector{statuses: []int{0, 503, 429, 200}, after: "7"}
		began := time.Now()
		g.Expect(c.upload(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/base"})).To(Succeed())
		g.Expect(c.requests).To(HaveLen(4))
		g.Expect(c.bodies).To(HaveEach(c.bodies[0]))
		g.Expect(time.Since(began)).To(BeNumerically(">=", 14*time.Second), "it waits as long as the collector asks")
		g.Expect(c.requests[0].URL.String()).To(Equal("http://collector:4318/base/v1/traces"))
		var data tracepb.TracesData
		g.Expect(proto.Unmarshal([]byte(c.bodies[0]), &data)).To(Succeed())
		g.Expect(data.ResourceSpans[0].ScopeSpans[0].Spans[0].Name).To(Equal("a step"))
	})
}

func TestGivesUp(t *testing.T) {
	g := NewWithT(t)
	synctest.Test(t, func(t *testing.T) {
		env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}
		refused := &collector{statuses: []int{400, 200}}
		g.Expect(refused.upload(t, env)).To(MatchError(ContainSubstring("Bad Request: \"because\"")))
		g.Expect(refused.requests).To(HaveLen(1))

		absent := &collector{statuses: []int{-1, 200}}
		g.Expect(absent.upload(t, env)).To(MatchError(syscall.ECONNREFUSED))
		g.Expect(absent.requests).To(HaveLen(1))

		down := &collector{statuses: make([]int, 1000)}
		began := time.Now()
		g.Expect(down.upload(t, env)).To(MatchError(os.ErrDeadlineExceeded))
		g.Expect(time.Since(began)).To(BeNumerically("<=", time.Minute))
		g.Expect(len(down.requests)).To(BeNumerically(">", 3))
	})
}

func TestSendsAsTheEnvironmentAsks(t *testing.T) {
	g := NewWithT(t)
	c := &collector{statuses: []int{200}}
	g.Expect(c.upload(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":        "http://elsewhere",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://collector/own",
		"OTEL_EXPORTER_OTLP_HEADERS":         "api-key=a%20b, tenant=7",
		"OTEL_EXPORTER_OTLP_COMPRESSION":     "gzip",
		"OTEL_EXPORTER_OTLP_PROTOCOL":        "http/json",
	})).To(Succeed())
	r := c.requests[0]
	g.Expect(r.URL.String()).To(Equal("https://collector/own"))
	g.Expect(r.Header.Get("Api-Key")).To(Equal("a b"))
	g.Expect(r.Header.Get("Tenant")).To(Equal("7"))
	g.Expect(r.Header.Get("Content-Type")).To(Equal("application/json"))
	g.Expect(r.Header.Get("Content-Encoding")).To(Equal("gzip"))
	packed, err := gzip.NewReader(strings.NewReader(c.bodies[0]))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(io.ReadAll(packed)).To(MatchJSON(`{"resourceSpans": [{"scopeSpans": [{"spans": [
		{"name": "a step", "traceId": "abababababababababababababababab", "spanId": "0101010101010101"}]}]}]}`))
}

func TestStopsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &collector{statuses: []int{503, 503}}
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector"}
	g.Expect(uploadThrough(ctx, func(name string) string { return env[name] }, c, nil)).To(MatchError(context.Canceled))
	g.Expect(len(c.requests)).To(BeNumerically("<=", 1))
}

// uploadThrough sends spans as the environment asks for, through a transport.
func uploadThrough(ctx context.Context, getenv func(string) string, transport http.RoundTripper, spans []*tracepb.ResourceSpans) error {
	s, err := readOTLPSettings(getenv)
	if err != nil {
		return err
	}
	c := newOTLPClient(s)
	c.http.Transport = transport
	return c.UploadTraces(ctx, spans)
}
