package view

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rehearse-dev/rehearse/clock"
)

// metrics are the Prometheus metrics of a server, in a registry of their own.
type metrics struct {
	clock    clock.Clock
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	streams  prometheus.Gauge
	refused  prometheus.Counter
}

// seconds are the histogram bounds of requests: a page should take at most 0.3 s.
var seconds = []float64{.001, .0025, .005, .01, .025, .05, .1, .3, 1, 3, 10}

func newMetrics(c clock.Clock) *metrics {
	m := &metrics{
		clock:    c,
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rehearse_view_request_duration_seconds", Help: "Duration of requests, without streams of events.", Buckets: seconds,
		}, []string{"route", "status"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "rehearse_view_streams", Help: "Open streams of events."}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rehearse_view_refused_requests_total", Help: "Requests with a foreign host or origin, or without the token.",
		}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.streams, m.refused)
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// timed measures the requests of a route. The label is the pattern, because names in paths would make series.
func (m *metrics) timed(route string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := m.clock.Now()
		status := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(status, r)
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
