package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/telemetry"
)

// Metrics are the Prometheus metrics of one service, in a separate registry. It is an event.Sink;
// Store counts what is stored. It is safe for concurrent use.
type Metrics struct {
	registry *telemetry.Metrics

	// From the ledger.
	calls, tokens, cost, unpriced *prometheus.CounterVec
	latency                       *prometheus.HistogramVec
	lost, trimmed                 *prometheus.CounterVec
	sessions                      *prometheus.CounterVec
	commits, answers              prometheus.Counter

	// From events.
	steps, submissions, verdicts, guards *prometheus.CounterVec
	queued, finished                     prometheus.Counter

	// From requests.
	requests *prometheus.HistogramVec
	busy     prometheus.Gauge

	// From the store.
	stored *sessionGauges
}

// callSeconds are the histogram bounds for calls: a question should take at most 5 s and a profile
// 15 s.
var callSeconds = []float64{.1, .25, .5, 1, 2, 3, 5, 7.5, 10, 15, 30, 60}

// requestSeconds are the histogram bounds for requests, from a queued question to a call with
// retries.
var requestSeconds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, 1, 2.5, 5, 15, 60, 300}

// NewMetrics returns metrics with all values zero.
func NewMetrics() *Metrics {
	registry := telemetry.NewMetrics("")
	stored := newSessionGauges()
	registry.Collect(stored)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return registry.Counter("interview_"+name, help, labels...)
	}
	return &Metrics{
		registry:    registry,
		calls:       counter("calls_total", "Calls to a model, by outcome.", "purpose", "outcome"),
		tokens:      counter("tokens_total", "Tokens of calls, as reported by the backend or else by our own count.", "purpose", "direction"),
		cost:        counter("cost_total", "Cost of calls; EUR if the prices are in EUR or have an exchange rate.", "purpose", "currency"),
		unpriced:    counter("unpriced_calls_total", "Calls with an unknown cost.", "purpose"),
		latency:     registry.Histogram("interview_call_duration_seconds", "Duration of calls.", callSeconds, "purpose"),
		lost:        counter("repeated_calls_total", "Calls that repeat a call lost in a crash.", "purpose"),
		trimmed:     counter("trimmed_total", "Calls with a trimmed history, and the omitted messages.", "what"),
		sessions:    counter("sessions_total", "Started sessions.", "language"),
		commits:     counter("commits_total", "Stored changes.").WithLabelValues(),
		answers:     counter("answers_total", "Stored answers.").WithLabelValues(),
		steps:       counter("transitions_total", "Arrivals at a step and phase.", "step", "phase"),
		submissions: counter("submissions_total", "Submissions of clients, by error code.", "code"),
		verdicts:    counter("verdicts_total", "Validated texts; rule is the first rule broken by an invalid text.", "purpose", "valid", "rule"),
		guards:      counter("guards_total", "Retries, exhausted budgets, trimming, lost calls, repeated and refused submissions.", "guard"),
		queued:      counter("queued_questions_total", "Questions served from a queue, without a call.").WithLabelValues(),
		finished:    counter("finished_total", "Finished interviews.").WithLabelValues(),
		requests: registry.Histogram("http_server_request_duration_seconds", "Duration of requests.", requestSeconds,
			"method", "route", "status"),
		busy:   registry.Gauge("http_server_active_requests", "Requests in progress."),
		stored: stored,
	}
}

// Handler serves the metrics in the format of Prometheus.
func (m *Metrics) Handler() http.Handler { return m.registry.Handler() }

// Emit implements event.Sink.
func (m *Metrics) Emit(e event.Event) {
	if moved, ok := event.Read[interview.Moved](&e); ok {
		m.steps.WithLabelValues(moved.Step, moved.Phase).Inc()
	}
	if v, ok := event.Read[interview.Validated](&e); ok {
		rule := v.Rule
		if v.Valid {
			rule = ""
		}
		m.verdicts.WithLabelValues(v.Purpose, strconv.FormatBool(v.Valid), rule).Inc()
	}
	if s, ok := event.Read[interview.Submitted](&e); ok {
		m.countSubmission(s)
	}
	switch e.Kind {
	case event.Guard:
		m.guards.WithLabelValues(e.Name).Inc()
	case event.End:
		m.finished.Inc()
	default:
	}
}

func (m *Metrics) countSubmission(s interview.Submitted) {
	code := s.Code
	if code == "" {
		code = "ok"
		if s.Repeated {
			code = "repeated"
		}
	}
	m.submissions.WithLabelValues(code).Inc()
	if s.Queued {
		m.queued.Inc()
	}
}

// beginRequest counts a request until end is called. The route is the matched pattern, because ids
// in paths would create series.
func (m *Metrics) beginRequest() (end func(method, route string, status int, took time.Duration)) {
	m.busy.Inc()
	return func(method, route string, status int, took time.Duration) {
		m.busy.Dec()
		m.requests.WithLabelValues(telemetry.MethodName(method), route, strconv.Itoa(status)).Observe(took.Seconds())
	}
}
