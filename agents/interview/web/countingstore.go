package web

import (
	"context"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Store wraps a store and counts its writes, so that the metrics of calls agree with the ledger.
func (m *Metrics) Store(s session.Store) session.Store { return &countingStore{s, m} }

type countingStore struct {
	session.Store
	metrics *Metrics
}

// Create implements session.Store.
func (c *countingStore) Create(ctx context.Context, s session.Session, change session.Change) error {
	err := c.Store.Create(ctx, s, change)
	if err == nil {
		c.metrics.sessions.WithLabelValues(string(s.Language)).Inc()
		c.metrics.committed(change)
	}
	return err
}

// Commit implements session.Store.
func (c *countingStore) Commit(ctx context.Context, s session.Session, change session.Change) (int64, error) {
	version, err := c.Store.Commit(ctx, s, change)
	if err == nil {
		c.metrics.committed(change)
	}
	return version, err
}

func (m *Metrics) committed(change session.Change) {
	m.commits.Inc()
	m.answers.Add(float64(len(change.Answers)))
	for _, call := range change.Calls {
		if call.Outcome != session.Begun {
			m.called(call)
		}
	}
}

func (m *Metrics) called(call session.Call) {
	purpose := string(call.Purpose)
	m.calls.WithLabelValues(purpose, string(call.Outcome)).Inc()
	if call.Repeats > 0 {
		m.lost.WithLabelValues(purpose).Inc()
	}
	if call.Trimmed > 0 {
		m.trimmed.WithLabelValues("calls").Inc()
		m.trimmed.WithLabelValues("messages").Add(float64(call.Trimmed))
	}
	if call.Outcome == session.Lost {
		return // latency and cost are unknown
	}
	m.latency.WithLabelValues(purpose).Observe(call.Latency.Seconds())
	used := call.Used()
	m.tokens.WithLabelValues(purpose, "input").Add(float64(used.Total() - used.Output))
	m.tokens.WithLabelValues(purpose, "output").Add(float64(used.Output))
	if call.Cost == nil {
		m.unpriced.WithLabelValues(purpose).Inc()
		return
	}
	m.cost.WithLabelValues(purpose, string(call.Cost.Currency)).Add(call.Cost.Amount)
}
