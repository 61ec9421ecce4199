package queue

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/telemetry"
)

// Metrics are the Prometheus metrics and the health of one worker. It is safe for concurrent use.
type Metrics struct {
	clock    clock.Clock
	registry *telemetry.Metrics
	trials   *prometheus.CounterVec
	jobs     *prometheus.CounterVec
	took     prometheus.Observer
	running  prometheus.Gauge
	slots    prometheus.Gauge
	errors   prometheus.Counter
	tried    atomic.Pointer[time.Time] // the last sign of life that was begun
	heard    atomic.Pointer[time.Time] // the last one that the database has; nil for none
}

// jobSeconds are the histogram bounds of jobs, which have about one second of work.
var jobSeconds = []float64{.01, .05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 300, 1800}

// The outcomes of jobs.
const (
	jobStored    = "stored"
	jobLate      = "late"      // another worker's result was there before
	jobWithdrawn = "withdrawn" // the run has ended, or gave the job to another worker
	jobGivenBack = "given_back"
	jobFailed    = "failed" // the result could not be stored
)

// NewMetrics returns metrics with all values zero.
func NewMetrics(c clock.Clock) *Metrics {
	r := telemetry.NewMetrics("rehearse_worker_")
	m := &Metrics{
		clock: c, registry: r,
		trials:  r.Counter("trials_total", "Trials that ended on this worker, by verdict.", "verdict"),
		jobs:    r.Counter("jobs_total", "Jobs that ended on this worker, by outcome.", "outcome"),
		took:    r.Histogram("job_duration_seconds", "Duration of the trials of a job.", jobSeconds).WithLabelValues(),
		running: r.Gauge("running_jobs", "Jobs that run."),
		slots:   r.Gauge("slots", "Jobs that can run at the same time."),
		errors:  r.Counter("database_errors_total", "Failed signs of life, and failed attempts to store a result.").WithLabelValues(),
	}
	began := c.Now()
	m.tried.Store(&began)
	r.GaugeFunc("beat_age_seconds", "Time since the database had the last sign of life; since the start if there was none.", func() float64 {
		last := m.heard.Load()
		if last == nil {
			last = &began
		}
		return c.Now().Sub(*last).Seconds()
	})
	return m
}

// beginBeat counts a sign of life. Call end with its result.
func (m *Metrics) beginBeat() (end func(error)) {
	began := m.clock.Now()
	m.tried.Store(&began)
	return func(err error) {
		if err != nil {
			m.errors.Inc()
			return
		}
		m.heard.Store(&began)
	}
}

// Limits of a healthy worker.
const (
	stuckAfter  = time.Minute      // a sign of life is given up after 10 s
	silentAfter = 10 * time.Second // for probes; the lease of a run decides about its jobs
)

// Handler serves /metrics, /healthz and /readyz. /healthz fails if the worker is stuck, and a new process
// would help; /readyz fails while the database does not have its signs of life.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.registry.Handler())
	probe := func(route, problem string, last func() *time.Time, limit time.Duration) {
		mux.HandleFunc("GET "+route, func(w http.ResponseWriter, _ *http.Request) {
			at := last()
			if at == nil || m.clock.Now().Sub(*at) > limit {
				http.Error(w, fmt.Sprintf("%s for more than %s", problem, limit), http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write([]byte("ok\n")) // the client may have left
		})
	}
	probe("/healthz", "the worker has done nothing", m.tried.Load, stuckAfter)
	probe("/readyz", "the database has not heard of the worker", m.heard.Load, silentAfter)
	return mux
}
