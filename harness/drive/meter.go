package drive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

// Meter limits the calls of many trials together. It must be safe for concurrent use.
type Meter interface {
	// Reserve counts a call before it is made, or returns the reason to refuse it. It may wait until
	// other calls have ended. settle must be called with the result of the call.
	Reserve(ctx context.Context, call Call) (settle Settle, err error)
}

// Settle counts the usage of a call that has ended.
type Settle func(reply llm.Reply, err error)

// LiveMeter is a Meter that limits single calls of live backends as well.
type LiveMeter interface {
	Meter
	// MaxOutput is the largest number of output tokens of a call without a limit of its own; 0
	// for the provider's.
	MaxOutput() int
	// Pacer limits how often the provider with this host is called.
	Pacer(host string) openai.Pacer
}

// Call describes a call to a LiveMeter. The other fields are empty for a scripted backend.
type Call struct {
	// Live is true for a call of a real model.
	Live bool
	// MostUSD is the most that the call can cost, with all its attempts. Without a limit of the
	// output it is the cost of the prompt.
	MostUSD float64
	// Unpriced is the model whose price is unknown; empty if it is known.
	Unpriced string
	// CostUSD returns the cost of the call after it. An attempt that may have been answered without
	// its usage being known counts with the most that it can cost.
	CostUSD func(reply llm.Reply, err error) float64
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
	return BudgetMeter{}
}

// BudgetMeter counts in this process. Without a budget nothing is limited.
type BudgetMeter struct{ Budget *llm.Budget }

// Reserve implements Meter.
func (m BudgetMeter) Reserve(context.Context, Call) (Settle, error) {
	if err := m.Budget.Reserve(); err != nil {
		return nil, err
	}
	return func(reply llm.Reply, err error) {
		if err == nil || reply.Usage != nil || reply.ReportedUSD != nil {
			m.Budget.Add(reply.Model, reply.Usage, reply.ReportedUSD)
		}
	}, nil
}

// metered is a backend whose calls are metered.
type metered struct {
	llm.Adapter
	meter Meter
	live  *livePrice // nil unless the meter limits calls of this backend
}

// metered returns the trial's client with metered calls, if the context has a meter.
func (t *Trial) metered(ctx context.Context, client llm.Adapter) llm.Adapter {
	m := metered{Adapter: client, meter: meterOf(ctx)}
	if m.meter == (BudgetMeter{}) {
		return client
	}
	if limits, ok := m.meter.(LiveMeter); ok && t.script.backend.Live() {
		b := &t.script.backend
		m.live = &livePrice{model: b.Model, maxOutput: limits.MaxOutput(), attempts: 1 + max(0, b.Retry), usd: t.usd}
	}
	return m
}

// Complete implements llm.Backend.
func (m metered) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	var call Call
	if m.live != nil {
		req.MaxTokens = cmp.Or(req.MaxTokens, m.live.maxOutput)
		call = m.live.call(&req)
	}
	settle, err := m.meter.Reserve(ctx, call)
	if err != nil {
		return llm.Reply{}, fmt.Errorf("call the model: %w", err)
	}
	reply, err := m.Adapter.Complete(ctx, req)
	settle(reply, err)
	return reply, err
}

// livePrice bounds the cost of the calls of a live backend.
type livePrice struct {
	model     string
	maxOutput int
	attempts  int
	usd       func(model string, u llm.Usage) (float64, bool)
}

// providerTokens are those that a provider adds to a prompt, such as instructions for the use of tools.
const providerTokens = 1000

// call describes a request.
func (p *livePrice) call(req *llm.Request) Call {
	model := cmp.Or(req.Model, p.model)
	each, known := p.most(model, req)
	call := Call{Live: true, MostUSD: each * float64(p.attempts)}
	if !known {
		call.Unpriced = model
	}
	call.CostUSD = func(reply llm.Reply, err error) float64 { return p.cost(model, each, reply, err) }
	return call
}

// most returns the most that one attempt can cost. A token has at least one byte, whatever the tokenizer.
func (p *livePrice) most(model string, req *llm.Request) (usd float64, known bool) {
	text, err := json.Marshal(req)
	if err != nil {
		return 0, false // such as parameters of a tool that are not JSON, which cannot be sent either
	}
	prompt := len(text) + providerTokens
	read, known := p.usd(model, llm.Usage{Input: prompt, Output: req.MaxTokens})
	written, _ := p.usd(model, llm.Usage{CacheWrite: prompt, Output: req.MaxTokens})
	return max(read, written), known
}

// cost returns the cost of a call. An attempt that the server answered with an error status, or that did not
// reach it, costs nothing.
func (p *livePrice) cost(model string, each float64, reply llm.Reply, err error) float64 {
	retries, usage, status := reply.Retries, reply.Usage, 0
	if failed, ok := errors.AsType[*llm.Error](err); ok {
		retries, usage, status = failed.Retries, cmp.Or(usage, failed.Usage), failed.Status
	} else if err != nil {
		return each * float64(p.attempts) // abandoned, in an attempt that is not known
	}
	sum := 0.0
	for _, r := range retries {
		if r.Status < 400 {
			sum += each
		}
	}
	if usage != nil && usage.Total() > 0 {
		if usd, ok := p.usd(cmp.Or(reply.Model, model), *usage); ok {
			return sum + usd
		}
	}
	if dial, ok := errors.AsType[*net.OpError](err); status >= 400 || ok && dial.Op == "dial" {
		return sum
	}
	return sum + each
}
