package drive

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// tapedTrial is the trial that a Tape records. Others have other seeds.
const tapedTrial = 1

// Tape has the states of a golden path between its turns. Perturbed trials that start at the last one
// before their first perturbation do not repeat what comes before. It is safe for concurrent use.
type Tape struct {
	golden      *driver
	trial       record.Trial
	checkpoints []*checkpoint
}

// checkpoint is the state of a trial between two turns.
type checkpoint struct {
	calls, writes, turns int // before it
	elapsed              time.Duration
	engine               *mocks.Engine
	source               rand.PCG
	collector            *record.Collector
	state                any // of the agent
}

// NewTape drives the golden path once more and records it. It returns nil if the trials of the driver
// cannot start in the middle.
func NewTape(ctx context.Context, golden Driver) *Tape {
	d, ok := golden.(*driver)
	if !ok || !d.forks || d.golden != nil || meterOf(ctx) != (BudgetMeter{}) {
		return nil
	}
	tape := &Tape{golden: d}
	taped := *d
	taped.tape = tape
	tape.trial, _ = taped.Trial(ctx, tapedTrial)
	return tape
}

// Trial returns the record of the golden path.
func (t *Tape) Trial() record.Trial { return t.trial }

// Fork returns the driver of the golden path with perturbations, whose trials start as late as possible.
// shared is false if they start at the beginning.
func (t *Tape) Fork(ps []perturb.Perturbation) (forked Driver, shared bool, err error) {
	perturbed, err := t.golden.Perturbed(ps)
	if err != nil || len(ps) == 0 {
		return perturbed, false, err
	}
	for _, c := range slices.Backward(t.checkpoints) {
		if c.before(ps) {
			next := *perturbed.(*driver)
			next.from = c
			return &next, true, nil
		}
	}
	return perturbed, false, nil
}

// before reports whether all perturbations are after the checkpoint.
func (c *checkpoint) before(ps []perturb.Perturbation) bool {
	done := map[perturb.Point]int{perturb.Call: c.calls, perturb.Write: c.writes, perturb.Turn: c.turns}
	return !slices.ContainsFunc(ps, func(p perturb.Perturbation) bool {
		n, known := done[p.At]
		return !known || p.N <= n
	})
}

// Taped reports whether the trial is recorded on a Tape or starts from one, so that the state of the agent
// must be one that can be copied.
func (t *Trial) Taped() bool { return t.tape != nil || t.forkedAt != nil }

// ForkedAt returns the state of the agent at which the trial starts, as a Checkpoint returned it; nil if
// the trial starts at its beginning. Several trials start at the same state, which must not be changed.
func (t *Trial) ForkedAt() any { return t.forkedAt }

// Checkpoint records the state of an agent between two turns, while no call is in progress and no timer is
// set. writes and turns are the numbers before it. It does nothing unless the trial is recorded on a Tape.
func (t *Trial) Checkpoint(writes, turns int, state func() any) {
	if t.tape == nil {
		return
	}
	now := t.Clock.(*clock.Virtual)
	t.tape.checkpoints = append(t.tape.checkpoints, &checkpoint{
		calls: t.engine.Answers(), writes: writes, turns: turns,
		elapsed: now.Elapsed(), engine: t.engine.Fork(now, nil), source: *t.source,
		collector: t.collector.Fork(t.collector.Head(), now), state: state(),
	})
}

// fork makes t, which has just begun, continue at the driver's checkpoint, if it has one.
func (d *driver) fork(ctx context.Context, t *Trial) error {
	t.tape = d.tape
	if d.from == nil {
		return nil
	}
	later := clock.NewVirtual()
	if err := later.Sleep(ctx, d.from.elapsed); err != nil {
		return fmt.Errorf("set the clock: %w", err)
	}
	source := d.from.source
	t.Clock, t.source, t.random, t.forkedAt = later, &source, rand.New(&source), d.from.state
	t.engine = d.from.engine.Fork(later, d.inject)
	t.collector = d.from.collector.Fork(t.collector.Head(), later)
	t.Sink = t.collector
	return nil
}
