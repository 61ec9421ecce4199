package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// chunk is the minimal number of trials that are started together. The journal is synced between
// chunks.
const chunk = 256

// until runs all trials up to a number of each variant in each scenario.
func (r *run) until(ctx context.Context, look, trials int) (result.Ending, error) {
	for r.next < trials {
		var items []*item
		for first := r.next; r.next < trials && len(items) < chunk; {
			items = append(items, r.round(r.next+1)...)
			if r.next++; first == 0 {
				break // the first round shows what is skipped and what a trial uses
			}
		}
		if r.end != nil && len(items) > 0 { // it already ended
			return result.Capped, nil
		}
		stopped, err := r.drive(ctx, look, items)
		if err != nil || stopped != "" {
			return stopped, err
		}
	}
	return "", nil
}

// round returns the missing trials with a number: scenario by scenario, with the variants in an
// order drawn by the seed.
func (r *run) round(n int) []*item {
	var items []*item
	for s, name := range r.decider.scenarios {
		if r.skipped[s] != "" && n > 1 {
			continue
		}
		turn := int(draw(r.design.Seed+uint64(n), name) % uint64(len(r.drivers)))
		for i := range r.drivers {
			v := (i + turn) % len(r.drivers)
			if len(r.trials[v][s]) < n {
				items = append(items, &item{Driver: r.drivers[v][s], variant: v, scenario: s, trial: n, tally: &tally{}})
			}
		}
	}
	return items
}

// errCapped ends a run whose cap is reached.
var errCapped = errors.New("a cap of the experiment is reached")

func (r *run) drive(ctx context.Context, look int, items []*item) (result.Ending, error) {
	if len(items) == 0 {
		return "", nil
	}
	workers, budget := r.opts.Workers, r.budget()
	if budget != nil {
		for _, it := range items {
			it.budget = budget
		}
		if r.near(len(items)) {
			workers = 1 // which trial reaches the cap must not depend on the workers
		}
	}
	sink := &sink{run: r, items: items, look: look}
	out, err := harness.RunDrivers(ctx, drivers(items), harness.Options{
		Workers: workers, Env: r.opts.Env, Sink: sink, Bare: true, Language: r.language,
	})
	if out.Interrupted && budget != nil && r.Live() {
		err = cmp.Or(err, r.recordLost(budget.Spent()))
	}
	if syncErr := r.journal.sync(); syncErr != nil && (err == nil || errors.Is(err, errCapped)) {
		err = syncErr
	}
	switch {
	case errors.Is(err, errCapped):
		return result.Capped, nil
	case err != nil:
		return "", fmt.Errorf("run the experiment: %w", err)
	case out.Interrupted:
		return result.Interrupted, nil
	}
	return "", nil
}

// recordLost records the use of interrupted trials that no other line of the journal contains.
func (r *run) recordLost(spent llm.Spent) error {
	recorded := r.prior
	add(&recorded, &r.used)
	rate := r.opts.Env.Prices.EURPerUSD
	l := lost{Lost: result.Used{Calls: spent.Calls - recorded.Calls, CostKnown: spent.CostUnknown == "" || !recorded.CostKnown}}
	if !l.Lost.CostKnown {
		l.Lost.Why = spent.CostUnknown
	}
	switch caps := r.caps; {
	case caps.Cost.Currency == quantity.USD:
		l.Lost.USD = max(0, spent.Cost-recorded.USD)
		l.Lost.EUR = l.Lost.USD * rate
	case caps.Cost.Amount > 0:
		l.Lost.EUR = max(0, spent.Cost-recorded.EUR)
		if rate > 0 {
			l.Lost.USD = l.Lost.EUR / rate
		}
	}
	if l.Lost.Calls <= 0 {
		return nil
	}
	add(&r.used, &l.Lost)
	return r.journal.append(l)
}

func drivers(items []*item) iter.Seq[drive.Driver] {
	return func(yield func(drive.Driver) bool) {
		for _, it := range items {
			if !yield(it) {
				return
			}
		}
	}
}

// budget returns the remaining budget, as one that already spent the previous use; nil without
// caps.
func (r *run) budget() *llm.Budget {
	caps := r.caps
	if caps.Calls == 0 && caps.Cost.IsZero() {
		return nil
	}
	used := r.prior
	add(&used, &r.used)
	b := llm.NewBudget(llm.Caps{Calls: caps.Calls, Cost: caps.Cost}, nil, r.opts.Env.Prices.EURPerUSD)
	spent := llm.Spent{Calls: used.Calls, Cost: used.EUR}
	if caps.Cost.Currency == quantity.USD {
		spent.Cost = used.USD
	}
	if !used.CostKnown {
		spent.CostUnknown = used.Why
	}
	b.Restore(spent)
	return b
}

// near reports whether n more trials could reach a cap, each using up to twice the maximum so far.
func (r *run) near(trials int) bool {
	caps := r.caps
	most, used := r.most.EUR, r.prior.EUR+r.used.EUR
	if caps.Cost.Currency == quantity.USD {
		most, used = r.most.USD, r.prior.USD+r.used.USD
	}
	n := float64(2 * trials)
	return r.made == 0 ||
		caps.Calls > 0 && float64(r.prior.Calls+r.used.Calls)+n*float64(r.most.Calls) >= float64(caps.Calls) ||
		caps.Cost.Amount > 0 && used+n*most >= caps.Cost.Amount
}

// sink adds the trials in plan order.
type sink struct {
	*run
	items    []*item
	received int
	look     int
}

// Scenario implements harness.Sink.
func (s *sink) Scenario(record.Scenario) error { return nil }

// Trial implements harness.Sink.
func (s *sink) Trial(j harness.Judged) error {
	it := s.items[s.received]
	s.received++
	o := s.outcome(it, &j)
	if it.budget != nil {
		o.Used.Calls = it.tally.calls // including those of a golden path, without a refused one
	}
	if it.tally.refusal != nil {
		s.end = &capped{Capped: it.tally.refusal.Error(), Used: o.Used}
		if err := s.journal.append(s.end); err != nil {
			return err
		}
		return errCapped
	}
	var err error
	if text := answerOf(&j.Facts); text != "" { // before the journal: a trial in it has its answer
		if o.Answer, err = s.answers.add(text); err != nil {
			return err
		}
	}
	o.Reasons = s.answers.reasonsOf(&j.Facts)
	s.add(it.variant, it.scenario, o)
	if err := s.journal.append(o); err != nil {
		return err
	}
	if s.opts.Progress != nil {
		s.opts.Progress(Progress{
			Doing: "trials", Trials: s.made, Planned: s.planned(), Resumed: s.resumed, Look: s.look + 1, Looks: len(s.decider.looks),
			Used: s.used, Trial: Trial{Variant: o.Variant, Scenario: o.Scenario, N: o.Trial, Verdict: o.Verdict},
		})
	}
	if j.Scenario.RealTime { // repeating it would cost time
		return s.journal.sync()
	}
	return nil
}

func (r *run) planned() int {
	return r.design.Trials * len(r.drivers) * len(r.decider.scenarios)
}

func (r *run) outcome(it *item, j *harness.Judged) *outcome {
	f := &j.Facts
	calls, tokens, cost := f.Spent()
	o := &outcome{
		Variant: r.decider.variants[it.variant], Scenario: r.decider.scenarios[it.scenario], Trial: it.trial, Verdict: j.Verdict,
		Used: result.Used{
			Calls: calls, Tokens: tokens, EUR: cost.EUR, USD: cost.USD, CostKnown: cost.Known, Why: cost.Why,
		},
	}
	o.Values, o.Unknown = values(j, r.quantities)
	switch j.Verdict {
	case gate.Skip:
		o.Why = f.Run.Skipped
	case gate.Error:
		o.Why = f.Run.Error
		if o.Why == "" && len(j.Findings) > 0 {
			o.Why = j.Findings[0].Message
		}
	case gate.Pass, gate.Fail:
	}
	return o
}

func add(to, more *result.Used) {
	to.Calls += more.Calls
	to.Tokens += more.Tokens
	to.EUR += more.EUR
	to.USD += more.USD
	if !more.CostKnown && to.CostKnown {
		to.CostKnown, to.Why = false, more.Why
	}
}
