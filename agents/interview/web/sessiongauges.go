package web

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/clock"
)

// sessionGauges are the metrics that are read from the store at each scrape.
type sessionGauges struct {
	source                               atomic.Pointer[gaugeSource]
	sessions, overdue, oldest, available *prometheus.Desc
}

// gaugeSource is the store to read, and the time after which an owed message is overdue.
type gaugeSource struct {
	store   session.Store
	clock   clock.Clock
	overdue time.Duration
}

func newSessionGauges() *sessionGauges {
	return &sessionGauges{
		sessions: prometheus.NewDesc("interview_sessions", "Stored sessions, by status.", []string{"status"}, nil),
		overdue: prometheus.NewDesc("interview_overdue_sessions",
			"Sessions whose message has been owed for longer than --overdue-after, by status.", []string{"status"}, nil),
		oldest: prometheus.NewDesc("interview_oldest_owed_seconds",
			"Age of the message that has been owed for longest; 0 if none is owed.", nil, nil),
		available: prometheus.NewDesc("interview_store_up", "1 if the store answered, else 0; the other gauges are then missing.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (g *sessionGauges) Describe(to chan<- *prometheus.Desc) {
	to <- g.sessions
	to <- g.overdue
	to <- g.oldest
	to <- g.available
}

// Collect implements prometheus.Collector.
func (g *sessionGauges) Collect(to chan<- prometheus.Metric) {
	source := g.source.Load()
	if source == nil {
		return
	}
	now := source.clock.Now()
	ctx, cancel := source.clock.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	counts, err := source.store.Counts(ctx, now.Add(-source.overdue))
	if err != nil {
		to <- prometheus.MustNewConstMetric(g.available, prometheus.GaugeValue, 0)
		return
	}
	to <- prometheus.MustNewConstMetric(g.available, prometheus.GaugeValue, 1)
	by := map[session.Status]session.StatusCount{}
	for _, c := range counts {
		by[c.Status] = c
	}
	var oldest time.Duration
	for _, status := range session.Statuses() {
		c := by[status]
		to <- prometheus.MustNewConstMetric(g.sessions, prometheus.GaugeValue, float64(c.Sessions), string(status))
		if !status.Owes() {
			continue
		}
		to <- prometheus.MustNewConstMetric(g.overdue, prometheus.GaugeValue, float64(c.Overdue), string(status))
		if c.Sessions > 0 {
			oldest = max(oldest, now.Sub(c.Oldest))
		}
	}
	to <- prometheus.MustNewConstMetric(g.oldest, prometheus.GaugeValue, oldest.Seconds())
}
