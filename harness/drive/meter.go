package drive

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/llm"
)

// Meter limits the usage of many trials together. It must be safe for concurrent use.
type Meter interface {
	// Reserve counts a call before it is made, or returns the reason to refuse it.
	Reserve() error
	// Add adds the usage of a call of a model, nil if it is unknown, and the cost that the
	// backend reported, or nil.
	Add(model string, usage *llm.Usage, reportedUSD *float64)
}

type meterKey struct{}

// WithMeter returns a context in which a trial's calls are metered.
func WithMeter(ctx context.Context, m Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// meterOf returns the meter of a trial's context; never nil.
func meterOf(ctx context.Context) Meter {
	if m, ok := ctx.Value(meterKey{}).(Meter); ok {
		return m
	}
	return unmetered{}
}

type unmetered struct{}

func (unmetered) Reserve() error                   { return nil }
func (unmetered) Add(string, *llm.Usage, *float64) {}

// withMeter returns a backend whose calls are metered, if the trial's context has a meter.
func withMeter(ctx context.Context, backend llm.Adapter) llm.Adapter {
	if meter := meterOf(ctx); meter != (unmetered{}) {
		return metered{backend, meter}
	}
	return backend
}

// metered is a backend whose calls are metered.
type metered struct {
	llm.Adapter
	meter Meter
}

// Complete implements llm.Backend.
func (m metered) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := m.meter.Reserve(); err != nil {
		return llm.Reply{}, fmt.Errorf("call the model: %w", err)
	}
	reply, err := m.Adapter.Complete(ctx, req)
	if err == nil || reply.Usage != nil || reply.ReportedUSD != nil {
		m.meter.Add(reply.Model, reply.Usage, reply.ReportedUSD)
	}
	return reply, err
}
