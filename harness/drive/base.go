package drive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// driver implements Driver for all kinds of agents. It is immutable.
type driver struct {
	scenario scenarios.Scenario
	script   *script
	servers  *mcp.Program // nil without MCP servers
	head     record.Scenario
	price    llm.Pricer
	rate     float64
	env      *Env
	// perturb has all perturbations, inject the ones of calls, and injectTools those of calls of MCP servers.
	perturb     []perturb.Perturbation
	inject      []mocks.Injection
	injectTools []mcp.Injection
	// golden is the driver of the golden path; nil for that driver itself.
	golden *driver
	// forks is true if the agent's trials can start in the middle of the golden path. tape records
	// them, and from is where they start; usually nil.
	forks bool
	tape  *Tape
	from  *checkpoint
	// points, if given, completes the points of the kind of agent.
	points func(*Points)
	// runTrial runs trial n.
	runTrial func(ctx context.Context, d *driver, n int) (record.Trial, []record.Timing)
}

// newDriver returns a driver without points and runTrial. Limits are the recorded settings;
// nil for none. With realTime, the trials run on the real clock.
func newDriver(sc scenarios.Scenario, env *Env, limits any, realTime bool) (*driver, error) {
	script, err := compile(sc.Backend)
	if err != nil {
		return nil, err
	}
	d := &driver{scenario: sc, script: script, head: describe(sc, realTime, env), env: env}
	d.head.Faults = script.faults()
	if err := d.compileServers(); err != nil {
		return nil, err
	}
	d.price, d.rate = pricer(d.head.Price)
	if limits == nil {
		return d, nil
	}
	if d.head.Limits, err = json.Marshal(limits); err != nil {
		return nil, fmt.Errorf("describe the settings: %w", err)
	}
	return d, nil
}

// Head implements Driver.
func (d *driver) Head() record.Scenario { return d.head }

// Trial implements Driver.
func (d *driver) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	return d.runTrial(ctx, d, n)
}

// Points implements Driver. By default calls can fail, and there are no writes and turns.
func (d *driver) Points() Points {
	p := Points{
		Faults: mocks.APIFaults(), Attempts: d.scenario.Backend.Retry + 1,
		NoWrites: "the agent stores nothing on disk", NoTurns: "the agent has no turns",
	}
	if d.scenario.Backend.Process() {
		p.Faults = mocks.ProcessFaults()
	}
	if d.points != nil {
		d.points(&p)
	}
	return p
}

// Perturbed implements Driver.
func (d *driver) Perturbed(ps []perturb.Perturbation) (Driver, error) {
	golden := cmp.Or(d.golden, d)
	if len(ps) == 0 {
		return golden, nil
	}
	points, next := d.Points(), *d
	next.golden, next.perturb, next.inject, next.injectTools = golden, ps, nil, nil
	texts := make([]string, len(ps))
	for i, p := range ps {
		texts[i] = p.String()
		if err := d.checkPossible(p, points); err != nil {
			return nil, fmt.Errorf("the perturbation %s is impossible here: %w", texts[i], err)
		}
		switch p.At {
		case perturb.Tool:
			next.injectTools = append(next.injectTools, mcp.Injection{Call: p.N, Kind: p.Do, Name: texts[i]})
		case perturb.Call:
			next.inject = append(next.inject, mocks.Injection{
				Call: p.N, Name: texts[i], Kind: p.Do, Fault: p.Fault, Latency: p.First.Std(), Edit: p.Edit(),
			})
		case perturb.Write, perturb.Turn: // by the agent's driver
		}
	}
	next.scenario.Name = fmt.Sprintf("%s [%s]", golden.head.Name, strings.Join(texts, " "))
	next.head.Name, next.head.Perturb = next.scenario.Name, texts
	next.head.Expect = expect.Expect{} // it applies to the golden path only
	return &next, nil
}

// checkPossible returns an error for a perturbation that is impossible here.
func (d *driver) checkPossible(p perturb.Perturbation, points Points) error {
	switch {
	case d.scenario.Backend.Live():
		return errors.New("the backend is live; only runs with a scripted backend can be repeated")
	case d.liveUser():
		return errors.New("the backend of the simulated user is live; only runs with scripted backends can be repeated")
	case p.At == perturb.Tool && d.servers == nil:
		return errors.New("the scenario has no MCP servers, which mcp: scripts")
	case p.At == perturb.Write && points.NoWrites != "":
		return errors.New(points.NoWrites)
	case p.At == perturb.Turn && points.NoTurns != "":
		return errors.New(points.NoTurns)
	case p.At == perturb.Turn && len(points.Turns) > 0 && !slices.Contains(points.Turns, p.Do):
		return fmt.Errorf("the perturbations of turns supported here are: %s", strings.Join(points.Turns, ", "))
	}
	if err := p.Validate(); err != nil {
		return err
	}
	return p.Suits(d.scenario.Backend.Process())
}

// liveUser reports whether a real model puts the messages of a simulated user into words.
func (d *driver) liveUser() bool { return d.head.User != nil && d.head.User.Backend == scenarios.Live }

// Timeouts returns the limits that are set, for Points.Timeouts.
func Timeouts(all map[string]quantity.Duration) map[string]time.Duration {
	some := map[string]time.Duration{}
	for name, d := range all {
		if d > 0 {
			some[name] = d.Std()
		}
	}
	return some
}

// pricer returns a function that prices usage by one quote, since a script answers as the
// same model for every request, and the quote's EUR per USD. Without a quote every cost is
// unknown.
func pricer(quote *price.Quote) (llm.Pricer, float64) {
	if quote == nil {
		return func(string, llm.Usage) (quantity.Money, bool) { return quantity.Money{}, false }, 0
	}
	return func(_ string, u llm.Usage) (quantity.Money, bool) {
		return quote.Cost(u), true
	}, quote.EURPerUSD
}

// errInterrupted cancels a trial whose scenario has interrupt_after.
var errInterrupted = errors.New("the user pressed Ctrl-C, as interrupt_after says")

// interruptAfter returns a context that is canceled with errInterrupted after d; never if d
// is zero.
func interruptAfter(ctx context.Context, clk clock.Clock, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func() {}
	if d > 0 {
		stop = clk.AfterFunc(d, func() { cancel(errInterrupted) })
	}
	return ctx, func() { stop(); cancel(nil) }
}
