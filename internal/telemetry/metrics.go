package telemetry

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is a registry of Prometheus metrics, with those of the process and the Go runtime.
type Metrics struct {
	registry *prometheus.Registry
	prefix   string
}

// NewMetrics returns a registry whose names begin with a prefix.
func NewMetrics(prefix string) *Metrics {
	m := &Metrics{prometheus.NewRegistry(), prefix}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the metrics in the format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Counter adds a counter.
func (m *Metrics) Counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.prefix + name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

// Gauge adds a gauge.
func (m *Metrics) Gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: m.prefix + name, Help: help})
	m.registry.MustRegister(g)
	return g
}

// GaugeFunc adds a gauge that is computed when it is read.
func (m *Metrics) GaugeFunc(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.prefix + name, Help: help}, value))
}

// Collect adds metrics that are computed when they are read.
func (m *Metrics) Collect(c prometheus.Collector) { m.registry.MustRegister(c) }

// Histogram adds a histogram with these bounds.
func (m *Metrics) Histogram(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.prefix + name, Help: help, Buckets: bounds}, labels)
	m.registry.MustRegister(h)
	return h
}
