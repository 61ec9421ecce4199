package view

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/telemetry"
)

// metrics are the Prometheus metrics of a server.
type metrics struct {
	clock    clock.Clock
	spans    telemetry.Tracer
	registry *telemetry.Metrics
	requests *prometheus.HistogramVec
	streams  prometheus.Gauge
	refused  prometheus.Counter
}

// seconds are the histogram bounds of requests: a page should take at most 0.3 s.
var seconds = []float64{.001, .0025, .005, .01, .025, .05, .1, .3, 1, 3, 10}

func newMetrics(c clock.Clock, spans trace.TracerProvider) *metrics {
	registry := telemetry.NewMetrics("rehearse_view_")
	return &metrics{
		clock: c, registry: registry, spans: telemetry.Tracer{Provider: spans, Scope: "github.com/rehearse-dev/rehearse/view", Now: c.Now},
		requests: registry.Histogram("request_duration_seconds", "Duration of requests, without streams of events.", seconds, "route", "status"),
		streams:  registry.Gauge("streams", "Open streams of events."),
		refused:  registry.Counter("refused_requests_total", "Requests with a foreign host or origin, or without the token.").WithLabelValues(),
	}
}

// timed measures the requests of a route, and makes a span of each. The label is the pattern, because names in paths would make series.
func (m *metrics) timed(route string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := m.clock.Now()
		status := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		ctx, end := m.spans.Request(r)
		next.ServeHTTP(status, r.WithContext(ctx))
		end(route, status.status, strconv.Itoa(status.status))
		m.requests.WithLabelValues(route, strconv.Itoa(status.status)).Observe(m.clock.Now().Sub(began).Seconds())
	})
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
