package drive

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
	"github.com/rehearse-dev/rehearse/scenarios/user"
)

// Conversation describes an external agent and the turns of the user.
type Conversation struct {
	// Talk has the turns of the user. Its default timeout is DefaultTurnTimeout.
	Talk scenarios.Talk
	// Agent answers the turns.
	Agent app.Agent
	// Virtual is true for an agent in this process that runs in virtual time. Others run in
	// real time, and their requests to hosts other than the scripted backend are refused.
	Virtual bool
	// OwnNetwork gives the agent a network of its own if the machine can create one.
	OwnNetwork bool
	// Restarts is true for an agent that can be killed and started again at a turn.
	Restarts bool
	// Hint is appended to the message about an agent that did not start.
	Hint string
}

// DefaultTurnTimeout limits a turn whose scenario sets no timeout.
const DefaultTurnTimeout = 30 * time.Second

// NewConversation returns the driver of a conversation.
func NewConversation(sc scenarios.Scenario, env *Env, c Conversation) (Driver, error) {
	if c.Talk.Timeout == 0 {
		c.Talk.Timeout = quantity.Duration(DefaultTurnTimeout)
	}
	maxTurns, patience, liveUser := 0, 0, false
	if u := c.Talk.User; u != nil {
		maxTurns, patience = cmp.Or(u.MaxTurns, user.DefaultMaxTurns), cmp.Or(u.Patience, user.DefaultPatience)
		liveUser = u.Backend != nil && u.Backend.Live()
	}
	d, err := newDriver(sc, env, struct {
		Timeout  quantity.Duration `json:"timeout"`
		MaxCalls int               `json:"max_calls,omitempty"`
		MaxCost  quantity.Money    `json:"max_cost,omitzero"`
		Turns    int               `json:"turns,omitempty"`
		MaxTurns int               `json:"max_turns,omitempty"`
		Patience int               `json:"patience,omitempty"`
	}{
		c.Talk.Timeout, c.Talk.MaxCalls, c.Talk.MaxCost, len(c.Talk.Turns), maxTurns, patience,
	}, !c.Virtual || sc.Backend.Kind() != scenarios.InProcess || liveUser)
	if err != nil {
		return nil, err
	}
	d.points = c.points
	d.runTrial = func(ctx context.Context, d *driver, n int) (record.Trial, []record.Timing) {
		return d.converse(ctx, n, &c)
	}
	return d, nil
}

func (c *Conversation) points(p *Points) {
	p.Attempts = 1 // retries of the agent are calls of their own
	p.Timeouts = Timeouts(map[string]quantity.Duration{"timeout": c.Talk.Timeout})
	p.NoWrites = "the harness does not see the writes of another program"
	p.NoTurns = "no process of the agent outlives a turn, or the harness did not start it: there is nothing to restart"
	if c.Restarts {
		p.NoTurns, p.Turns = "", []string{perturb.Restart}
	}
}

func (d *driver) converse(ctx context.Context, n int, c *Conversation) (record.Trial, []record.Timing) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var w *watch
	t := d.begin(n, func(t *Trial) mocks.Observer {
		w = newWatch(ctx, c, t, stop)
		return w
	})
	defer func() { _ = t.Release() }() // in case of a panic; finish reports its error
	if b := c.Talk.UserBackend(); b != nil {
		if why := d.env.whyForbidden(*b); why != "" {
			return t.finish(d.forbidden("the simulated user: " + why)), nil
		}
	}
	ctx, done := interruptAfter(ctx, t.Clock, c.Talk.InterruptAfter.Std())
	defer done()
	site, err := newSite(c, t, d.head.RealTime, stop)
	if err != nil {
		return t.finish(Failed("prepare what the agent finds", err)), nil
	}
	w.setSite(site)
	talk := conversation{
		Conversation: c, trial: t, watch: w, site: site, start: t.Clock.Now(), planned: PlannedAt(perturb.Turn, d.perturb),
		seed: Seed(d.scenario.Seed, n), at: "drive." + d.scenario.Drive.Kind,
	}
	trial := t.finish(d.scored(ctx, t, talk.run(ctx)))
	site.places.rename(&trial)
	trial.Exchanges = slices.DeleteFunc(trial.Exchanges, w.isRepeatedRefusal)
	return trial, t.collector.Timings()
}
