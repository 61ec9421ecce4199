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

// appDriver drives somebody else's agent: it says what the scenario's user says, and
// records what reaches the scripted backend.
type appDriver struct {
	base
	talk  scenarios.Talk
	agent app.Agent
	hint  string // for somebody whose program did not come up
}

// turnTimeout is how long a turn may take unless the scenario says otherwise.
const turnTimeout = 30 * time.Second

func newAppDriver(sc scenarios.Scenario, env *Env) (*appDriver, error) {
	talk, _ := sc.Drive.Talk()
	d := &appDriver{talk: *talk}
	if d.talk.Timeout == 0 {
		d.talk.Timeout = quantity.Duration(turnTimeout)
	}
	kind, agent, err := newAgent(sc, env)
	if err != nil {
		return nil, err
	}
	d.agent = agent
	if p := processOf(sc.Drive); p != nil {
		d.hint = misplaced(sc, p.Run, talk.Files)
	}
	if d.base, err = newBase(sc, kind, env); err != nil {
		return nil, err
	}
	d.head.Limits, err = describe(struct {
		Timeout  quantity.Duration `json:"timeout"`
		MaxCalls int               `json:"max_calls,omitempty"`
		MaxCost  quantity.Money    `json:"max_cost,omitzero"`
		Turns    int               `json:"turns"`
	}{d.talk.Timeout, d.talk.MaxCalls, d.talk.MaxCost, len(d.talk.Turns)})
	return d, err
}

// newAgent returns the agent of a scenario and what its kind is called in recordings.
func newAgent(sc scenarios.Scenario, env *Env) (kind string, agent app.Agent, err error) {
	switch d := sc.Drive; {
	case d.Function != nil:
		agent, err = functionAgent(d.Function, env)
		return "function", agent, err
	case d.Command != nil:
		agent, err = commandAgent(sc, env)
		return "command", agent, err
	case d.HTTP != nil:
		agent, err = webAgent(sc, env)
		return "http", agent, err
	case d.Container != nil:
		agent, err = containerAgent(sc)
		return "container", agent, err
	default:
		agent, err = codingAgent(sc, env)
		return "coding", agent, err
	}
}

// Points implements Driver.
func (d *appDriver) Points() Points {
	p := d.base.Points()
	p.Attempts = 1 // whether and how often it tries again is its own affair
	p.Timeouts = timeouts(map[string]quantity.Duration{"timeout": d.talk.Timeout})
	if d.scenario.Drive.Restarts() {
		p.NoTurns, p.Turns = "", []string{perturb.Restart}
	}
	return p
}

// Perturbed implements Driver.
func (d *appDriver) Perturbed(ps []perturb.Perturbation) (Driver, error) {
	return d.depart(d, ps, func(b base) Driver {
		other := *d
		other.base = b
		return &other
	})
}

// Trial implements Driver.
func (d *appDriver) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var w *watch
	t := d.script.beginObserved(d.scenario, n, d.env, func(t *trial) mocks.Observer {
		w = newWatch(ctx, d, t, stop)
		return w
	}, d.inject...)
	defer func() { _ = t.release() }() // in case of a panic; finish reports its error
	ctx, calm := interruptAfter(ctx, t.clock, d.talk.InterruptAfter.Std())
	defer calm()
	site, err := d.newSite(t, stop)
	if err != nil {
		return t.finish(harnessError("prepare what the agent finds", err)), nil
	}
	w.settle(site)
	talk := conversation{appDriver: d, trial: t, watch: w, site: site, start: t.clock.Now(), blows: blowsAt(perturb.Turn, d.perturb)}
	trial := t.finish(d.scored(ctx, t, talk.hold(ctx)))
	site.places.rename(&trial)
	trial.Exchanges = slices.DeleteFunc(trial.Exchanges, w.late)
	return trial, t.collector.Timings()
}
