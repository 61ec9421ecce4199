package drive

import (
	"context"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Conversation is an agent that knows nothing of the harness, and what a user says to it.
type Conversation struct {
	// Talk is what the user says. A turn may take DefaultTurnTimeout if it sets no timeout.
	Talk scenarios.Talk
	// Agent is who answers.
	Agent app.Agent
	// Virtual is true of an agent in this process that can live in virtual time. Others run
	// in real time, and are refused other machines than the scripted backend.
	Virtual bool
	// OwnNetwork gives the agent a network of its own, where the machine can.
	OwnNetwork bool
	// Restarts is true of an agent that can be killed and started again at a turn.
	Restarts bool
	// Hint ends the message about an agent that did not start.
	Hint string
}

// DefaultTurnTimeout is how long a turn may take unless the scenario says otherwise.
const DefaultTurnTimeout = 30 * time.Second

// NewConversation returns the driver of a conversation.
func NewConversation(sc scenarios.Scenario, env *Env, c Conversation) (Driver, error) {
	if c.Talk.Timeout == 0 {
		c.Talk.Timeout = quantity.Duration(DefaultTurnTimeout)
	}
	d, err := newDriver(sc, env, struct {
		Timeout  quantity.Duration `json:"timeout"`
		MaxCalls int               `json:"max_calls,omitempty"`
		MaxCost  quantity.Money    `json:"max_cost,omitzero"`
		Turns    int               `json:"turns"`
	}{c.Talk.Timeout, c.Talk.MaxCalls, c.Talk.MaxCost, len(c.Talk.Turns)}, !c.Virtual || sc.Backend.Kind() != scenarios.InProcess)
	if err != nil {
		return nil, err
	}
	d.points = c.points
	d.carryOut = func(ctx context.Context, d *driver, n int) (record.Trial, []record.Timing) {
		return d.converse(ctx, n, &c)
	}
	return d, nil
}

func (c *Conversation) points(p *Points) {
	p.Attempts = 1 // whether and how often it tries again is its own affair
	p.Timeouts = Timeouts(map[string]quantity.Duration{"timeout": c.Talk.Timeout})
	if c.Restarts {
		p.NoTurns, p.Turns = "", []string{perturb.Restart}
	}
}

// converse carries out trial n.
func (d *driver) converse(ctx context.Context, n int, c *Conversation) (record.Trial, []record.Timing) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var w *watch
	t := d.begin(n, func(t *Trial) mocks.Observer {
		w = newWatch(ctx, c, t, stop)
		return w
	})
	defer func() { _ = t.Release() }() // in case of a panic; finish reports its error
	ctx, done := interruptAfter(ctx, t.Clock, c.Talk.InterruptAfter.Std())
	defer done()
	site, err := newSite(c, t, d.head.RealTime, stop)
	if err != nil {
		return t.finish(Failed("prepare what the agent finds", err)), nil
	}
	w.settle(site)
	talk := conversation{Conversation: c, trial: t, watch: w, site: site, start: t.Clock.Now(), planned: PlannedAt(perturb.Turn, d.perturb)}
	trial := t.finish(d.scored(ctx, t, talk.hold(ctx)))
	site.places.rename(&trial)
	trial.Exchanges = slices.DeleteFunc(trial.Exchanges, w.late)
	return trial, t.collector.Timings()
}
