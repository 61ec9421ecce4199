package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// base is what all drivers share: a compiled script and how a trial begins and
// ends.
type base struct {
	scenario scenarios.Scenario
	script   *script
	head     record.Scenario
	pricer   budget.Pricer
	rate     float64
	env      *Env
	// perturb are the departures from the path, inject those of them that are made by
	// the scripted backend. golden is the driver of the path; nil in that one itself.
	perturb []perturb.Perturbation
	inject  []mocks.Injection
	golden  Driver
}

func newBase(sc scenarios.Scenario, agent string, env *Env) (base, error) {
	script, err := compile(sc.Backend)
	if err != nil {
		return base{}, err
	}
	b := base{scenario: sc, script: script, head: head(sc, agent, env), env: env}
	b.head.Faults = script.faults()
	b.pricer, b.rate = pricer(b.head.Price)
	return b, nil
}

// depart makes of self, which is of this base, a driver with other departures from the
// path; with puts a base in its place. Without departures it is the driver of the path.
func (b *base) depart(self Driver, ps []perturb.Perturbation, with func(base) Driver) (Driver, error) {
	golden := cmp.Or(b.golden, self)
	if len(ps) == 0 {
		return golden, nil
	}
	points, next := self.Points(), *b
	next.golden, next.perturb, next.inject = golden, ps, nil
	texts := make([]string, len(ps))
	for i, p := range ps {
		texts[i] = p.String()
		if err := b.possible(p, points); err != nil {
			return nil, fmt.Errorf("the perturbation %s cannot be made here: %w", texts[i], err)
		}
		if p.At == perturb.Call {
			next.inject = append(next.inject, mocks.Injection{
				Call: p.N, Name: texts[i], Kind: p.Do, Fault: p.Fault, Latency: p.First.Std(), Edit: p.Edit(),
			})
		}
	}
	next.scenario.Name = fmt.Sprintf("%s [%s]", golden.Head().Name, strings.Join(texts, " "))
	next.head.Name, next.head.Perturb = next.scenario.Name, texts
	next.head.Expect = expect.Expect{} // what holds on the path need not hold off it
	return with(next), nil
}

// possible says why a perturbation cannot be made.
func (b *base) possible(p perturb.Perturbation, points Points) error {
	switch none := points; {
	case b.scenario.Backend.Live():
		return errors.New("the backend is live, and only with a scripted one can a run be made again")
	case p.At == perturb.Write && none.NoWrites != "":
		return errors.New(none.NoWrites)
	case p.At == perturb.Turn && none.NoTurns != "":
		return errors.New(none.NoTurns)
	case p.At == perturb.Turn && len(none.Turns) > 0 && !slices.Contains(none.Turns, p.Do):
		return fmt.Errorf("what happens at a turn here is: %s", strings.Join(none.Turns, ", "))
	}
	if err := p.Validate(); err != nil {
		return err
	}
	return p.Suits(b.scenario.Backend.Process())
}

// inFile makes it the driver of a scenario file that has perturbations: it bears the
// file's name, and what the file expects holds of it.
func (b *base) inFile() {
	path := b.golden.Head()
	b.scenario.Name = path.Name
	b.head.Name, b.head.Expect = path.Name, path.Expect
}

// Points has what most drivers have: calls that fail, no store and nobody on the
// other side.
func (b *base) Points() Points {
	faults := mocks.APIFaults()
	if b.scenario.Backend.Process() {
		faults = mocks.ProcessFaults()
	}
	return Points{
		Faults: faults, Attempts: b.scenario.Backend.Retry + 1,
		NoWrites: "the agent keeps nothing on disk", NoTurns: "nobody takes turns with the agent",
	}
}

// timeouts are those of a set of limits that are not off.
func timeouts(all map[string]quantity.Duration) map[string]time.Duration {
	some := map[string]time.Duration{}
	for name, d := range all {
		if d > 0 {
			some[name] = d.Std()
		}
	}
	return some
}

// Head describes the scenario.
func (b *base) Head() record.Scenario { return b.head }

// trial carries out trial n by run, which drives the agent against the scripted
// backend until it ends.
func (b *base) trial(ctx context.Context, n int, interrupt quantity.Duration,
	run func(context.Context, *trial, llm.Adapter) record.End,
) (record.Trial, []record.Timing) {
	t := b.script.begin(b.scenario, n, b.env, b.inject...)
	defer func() { _ = t.release() }() // in case of a panic; finish reports its error
	if why := b.env.forbids(b.scenario.Backend); why != "" {
		return t.finish(b.forbidden(why)), nil
	}
	backend, err := t.backend(ctx)
	if err != nil {
		doing := "start the scripted backend"
		if b.scenario.Backend.Live() {
			doing = "prepare the live backend"
		}
		return t.finish(harnessError(doing, err)), nil
	}
	ctx, stop := interruptAfter(ctx, t.clock, interrupt.Std())
	defer stop()
	trial := t.finish(b.scored(ctx, t, run(ctx, t, backend)))
	return trial, t.collector.Timings()
}

// forbidden ends a trial whose live backend must not be called.
func (b *base) forbidden(why string) record.End {
	if b.env.Required {
		return harnessError("drive the scenario", errors.New(why))
	}
	return record.End{Status: "skipped", Skipped: why}
}

// pricer prices usage by one quote, for a script answers as one model whatever
// model it is asked for. Without a quote every cost is unknown.
func pricer(quote *price.Quote) (budget.Pricer, float64) {
	if quote == nil {
		return func(string, llm.Usage) (quantity.Money, bool) { return quantity.Money{}, false }, 0
	}
	return func(_ string, u llm.Usage) (quantity.Money, bool) {
		return quote.Cost(u), true
	}, quote.EURPerUSD
}

// errCtrlC is why a run ends that its scenario interrupts.
var errCtrlC = errors.New("the user pressed Ctrl-C, as interrupt_after says")

// interruptAfter returns a context that the user interrupts after d; never if d
// is zero.
func interruptAfter(ctx context.Context, clk clock.Clock, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func() {}
	if d > 0 {
		stop = clk.AfterFunc(d, func() { cancel(errCtrlC) })
	}
	return ctx, func() { stop(); cancel(nil) }
}
