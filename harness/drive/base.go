package drive

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/unit"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/scenarios"
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
	perturb  []perturb.Perturbation
}

func newBase(sc scenarios.Scenario, agent string, env *Env) (base, error) {
	script, err := compile(sc.Backend)
	if err != nil {
		return base{}, err
	}
	b := base{scenario: sc, script: script, head: head(sc, agent, env), env: env, perturb: sc.Perturb}
	b.head.Faults = script.faults()
	b.pricer, b.rate = pricer(b.head.Price)
	return b, nil
}

// perturbed is the base of the same scenario with other perturbations.
func (b base) perturbed(ps []perturb.Perturbation) base {
	b.perturb = ps
	b.head.Perturb = nil
	for _, p := range ps {
		b.head.Perturb = append(b.head.Perturb, p.String())
	}
	b.head.Name = fmt.Sprintf("%s [%s]", b.scenario.Name, strings.Join(b.head.Perturb, " "))
	return b
}

// Points has what most drivers have: calls that fail, no store and nobody on the
// other side.
func (b *base) Points() Points {
	return Points{NoWrites: "the agent keeps nothing on disk", NoTurns: "nobody takes turns with the agent"}
}

// Head describes the scenario.
func (b *base) Head() record.Scenario { return b.head }

// trial carries out trial n by run, which drives the agent against the scripted
// backend until it ends.
func (b *base) trial(ctx context.Context, n int, interrupt unit.Duration,
	run func(context.Context, *trial, llm.Adapter) record.End,
) (record.Trial, []record.Timing) {
	t := b.script.begin(b.scenario, n, b.env)
	defer func() { _ = t.release() }() // in case of a panic; finish reports its error
	backend, err := t.backend(ctx)
	if err != nil {
		return t.finish(harnessError("start the scripted backend", err)), nil
	}
	ctx, stop := interruptAfter(ctx, t.clock, interrupt.Std())
	defer stop()
	trial := t.finish(run(ctx, t, backend))
	return trial, t.collector.Timings()
}

// pricer prices usage by one quote, for a script answers as one model whatever
// model it is asked for. Without a quote every cost is unknown.
func pricer(quote *price.Quote) (budget.Pricer, float64) {
	if quote == nil {
		return func(string, llm.Usage) (unit.Money, bool) { return unit.Money{}, false }, 0
	}
	return func(_ string, u llm.Usage) (unit.Money, bool) {
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
