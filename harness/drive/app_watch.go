package drive

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
)

// watch records the calls of an agent that knows nothing of the harness, as they reach
// the scripted backend, and bounds them.
type watch struct {
	trial  *Trial
	budget *llm.Budget
	meter  Meter // of all trials together
	stop   context.CancelCauseFunc
	agent  app.Agent

	mu      sync.Mutex
	site    *site // where the agent is; empty until it has one
	begun   int
	refused bool
}

// overBudget is why a trial ended whose agent made a call beyond its budget.
type overBudget struct{ error }

func newWatch(ctx context.Context, c *Conversation, t *Trial, stop context.CancelCauseFunc) *watch {
	caps := llm.Caps{Calls: c.Talk.MaxCalls, Cost: c.Talk.MaxCost}
	return &watch{trial: t, budget: llm.NewBudget(caps, t.Price, t.EURPerUSD), meter: meterOf(ctx), stop: stop, agent: c.Agent, site: &site{}}
}

// Begin implements mocks.Observer.
func (w *watch) Begin(protocol string, req llm.Request) (func(llm.Reply, error), error) {
	err := w.budget.Reserve()
	if err == nil {
		err = w.meter.Reserve()
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
			w.meter.Add(reply.Model, reply.Usage, nil)
		}
		names := w.where().places
		reply.Text, reply.ToolCalls = names.text(reply.Text), names.toolCalls(reply.ToolCalls)
		end(reply, err, errors.Is(err, context.Canceled))
	}, nil
}

// settle says where the agent is, before it starts.
func (w *watch) settle(s *site) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.site = s
}

func (w *watch) where() *site {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.site
}

// calls is how many calls were begun.
func (w *watch) calls() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun
}

// count counts the tokens of a text as the recording holds it: a folder's name must not
// decide how many there are.
func (w *watch) count(model, text string) int {
	return w.trial.Env.Tokens.Count(model, w.where().places.text(text))
}

// late reports whether an exchange is a further one that was refused, after the first,
// which ended the trial: how many an agent gets round to before it is gone differs from
// run to run. It is asked about each exchange once, in their order.
func (w *watch) late(x record.Exchange) bool {
	if !strings.HasPrefix(x.Problem, mocks.RefusedPrefix) {
		return false
	}
	again := w.refused
	w.refused = true
	return again
}

// calmer is an agent that knows what differs from run to run in what it sends, and takes
// it out.
type calmer interface {
	Calm(site app.Site, req llm.Request) llm.Request
}

// recorded is a request as the recording holds it.
func (w *watch) recorded(req llm.Request) llm.Request {
	if c, ok := w.agent.(calmer); ok {
		req = c.Calm(w.where().Site, req)
	}
	return w.where().places.request(req)
}
