package drive

import (
	"context"
	"errors"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

// watch records the calls of an external agent as they reach the scripted backend, and
// limits them.
type watch struct {
	trial  *Trial
	budget *llm.Budget
	meter  Meter // shared by all trials
	stop   context.CancelCauseFunc
	agent  app.Agent

	mu      sync.Mutex
	site    *site // empty until setSite
	begun   int
	refused bool
}

// overBudget ends a trial whose agent made a call beyond its budget.
type overBudget struct{ error }

func newWatch(ctx context.Context, c *Conversation, t *Trial, stop context.CancelCauseFunc) *watch {
	caps := llm.Caps{Calls: c.Talk.MaxCalls, Cost: c.Talk.MaxCost}
	return &watch{trial: t, budget: llm.NewBudget(caps, t.Price, t.EURPerUSD), meter: meterOf(ctx), stop: stop, agent: c.Agent, site: &site{}}
}

// Begin implements mocks.Observer.
func (w *watch) Begin(protocol string, req llm.Request) (func(llm.Reply, error), error) {
	var settle Settle
	err := w.budget.Reserve()
	if err == nil {
		settle, err = w.meter.Reserve(context.Background(), Call{})
	}
	if err != nil {
		w.stop(&overBudget{err})
		return nil, err
	}
	w.mu.Lock()
	w.begun++
	w.mu.Unlock()
	end := w.trial.collector.Begin(protocol, w.recorded(req))
	return func(reply llm.Reply, err error) {
		if err == nil || reply.Usage != nil {
			w.budget.Add(reply.Model, reply.Usage, nil)
		}
		settle(llm.Reply{Model: reply.Model, Usage: reply.Usage}, err)
		names := w.currentSite().places
		reply.Text, reply.ToolCalls = names.text(reply.Text), names.toolCalls(reply.ToolCalls)
		end(reply, err, errors.Is(err, context.Canceled))
	}, nil
}

// setSite sets the agent's site, before it starts.
func (w *watch) setSite(s *site) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.site = s
}

func (w *watch) currentSite() *site {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.site
}

func (w *watch) calls() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun
}

// count counts the tokens of a text as it is recorded, so that the name of a folder does
// not change the count.
func (w *watch) count(model, text string) int {
	return w.trial.Env.Tokens.Count(model, w.currentSite().places.text(text))
}

// isRepeatedRefusal reports whether an exchange was refused after the first refused one,
// which ended the trial: how many more requests an agent makes before it has ended differs
// from run to run. It must be called once for each exchange, in their order.
func (w *watch) isRepeatedRefusal(x record.Exchange) bool {
	again := x.Refused && w.refused
	w.refused = w.refused || x.Refused
	return again
}

// normalizer is an agent that removes from its requests what differs from run to run.
type normalizer interface {
	Normalize(site app.Site, req llm.Request) llm.Request
}

func (w *watch) recorded(req llm.Request) llm.Request {
	if c, ok := w.agent.(normalizer); ok {
		req = c.Normalize(w.currentSite().Site, req)
	}
	return w.currentSite().places.request(req)
}
