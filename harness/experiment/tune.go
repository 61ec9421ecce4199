package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// tuned is the name of the variant that a search ends with.
const tuned = "tuned"

// Tune searches for a better text on the training scenarios, and compares the best one with the
// base on the held-out scenarios, with the experiment's own design. It is promoted only if it is
// better there: the best of many candidates is partly luck, which the scenarios that selected it
// cannot reveal. The search does not see the held-out scenarios. The caps apply to everything; with
// a journal, every round has its own journal beside it.
func (e *Experiment) Tune(ctx context.Context, opts Options) (result.Experiment, error) {
	if e.search == nil {
		return result.Experiment{}, errors.New("the experiment has no tune; write tune, or run the experiment to compare its variants")
	}
	base := e.variants[e.search.base]
	t := &tuning{
		Experiment: e, opts: opts,
		out: result.Tune{
			Search: e.search.kind, Base: base.name, Training: e.training, HeldOut: namesOf(base.scenarios), Used: result.Used{CostKnown: true},
		},
	}
	found, stopped, err := t.search(ctx)
	if err != nil {
		return result.Experiment{}, err
	}
	if stopped != nil {
		return t.unfinished(*stopped), nil
	}
	return t.prove(ctx, found)
}

// tuning is the state of a search.
type tuning struct {
	*Experiment
	opts  Options
	out   result.Tune
	round int
}

// search returns the best choice on the training scenarios. stopped is not nil if it did not
// finish.
func (t *tuning) search(ctx context.Context) (found choice, stopped *result.Stopped, err error) {
	s := t.Experiment.search
	if s.kind == greedy {
		found = make(choice, len(s.fragments))
		for i, f := range s.fragments {
			winners, stopped, err := t.try(ctx, fmt.Sprintf("the options of %s", f.name), s.around(found, i), 1, s.trials)
			if err != nil || stopped != nil {
				return nil, stopped, err
			}
			found = winners[0]
		}
		return found, nil, nil
	}
	left, trials := s.all(), s.trials
	for len(left) > 1 {
		about := fmt.Sprintf("%s, %s each", format.Plural(len(left), "combination"), format.Plural(trials, "trial"))
		left, stopped, err = t.try(ctx, about, left, (len(left)+1)/2, trials)
		if err != nil || stopped != nil {
			return nil, stopped, err
		}
		trials *= 2
	}
	return left[0], nil, nil
}

// try tries choices on the training scenarios and returns the best of them.
func (t *tuning) try(ctx context.Context, about string, choices []choice, keep, trials int) ([]choice, *result.Stopped, error) {
	t.round++
	round := t.part(fmt.Sprintf("round %d", t.round), trials)
	for _, c := range choices {
		v, err := t.variant(c, t.training)
		if err != nil {
			return nil, nil, err
		}
		round.variants = append(round.variants, v)
	}
	res, err := round.run(ctx, t.options(fmt.Sprintf("round %d of the search", t.round), fmt.Sprintf("round-%d", t.round)), t.out.Used)
	if err != nil {
		return nil, nil, fmt.Errorf("search, round %d: %w", t.round, err)
	}
	add(&t.out.Used, &res.Used)
	report := result.Round{About: about}
	scores := make([]float64, len(choices))
	for i, c := range choices {
		score := res.Variants[i].Measures[0]
		scores[i] = scoreOf(score)
		report.Candidates = append(report.Candidates, result.Candidate{
			Name: res.Variants[i].Name, Choice: t.Experiment.search.shown(c), Score: score,
		})
	}
	if res.Stopped.As != result.Complete {
		t.out.Rounds = append(t.out.Rounds, report)
		return nil, &res.Stopped, nil
	}
	winners := best(choices, scores, t.design.Primary.Better)[:keep]
	for _, c := range winners {
		report.Kept = append(report.Kept, t.Experiment.search.name(c))
	}
	t.out.Rounds = append(t.out.Rounds, report)
	return winners, nil, nil
}

// scoreOf returns the score that candidates are ordered by; NaN if unknown.
func scoreOf(v measure.Value) float64 {
	if v.Value == nil || !v.Known {
		return math.NaN()
	}
	return *v.Value
}

// part returns an experiment on some of the scenarios, without variants. It has one analysis, at
// the end.
func (t *tuning) part(name string, trials int) *Experiment {
	p := *t.Experiment
	p.variants, p.design.Trials, p.design.Looks, p.design.Spending = nil, trials, 1, "none"
	p.design.Scope, p.design.Secondary = result.These, nil
	p.quantities = p.quantities[:1]
	sum := sha256.Sum256([]byte(t.digest + "\n" + name))
	p.digest = "sha256:" + hex.EncodeToString(sum[:])
	return &p
}

func (t *tuning) variant(c choice, names []string) (variant, error) {
	s := t.Experiment.search
	v := variant{name: s.name(c), set: s.settings(t.variants[s.base].set, c)}
	var found []problem
	if v.scenarios, found = t.varied(v.set, names); len(found) > 0 {
		return v, fmt.Errorf("the scenario %s is invalid with the text %s: %s", found[0].scenario, v.name, found[0].Message)
	}
	return v, nil
}

// options returns the options of one part of the work.
func (t *tuning) options(doing, journal string) Options {
	o := t.opts
	if o.Journal != "" {
		ext := filepath.Ext(o.Journal)
		o.Journal = strings.TrimSuffix(o.Journal, ext) + "-" + journal + ext
	}
	if progress := t.opts.Progress; progress != nil {
		o.Progress = func(p Progress) {
			p.Doing = doing
			progress(p)
		}
	}
	return o
}

// prove compares the found text with the base on the held-out scenarios.
func (t *tuning) prove(ctx context.Context, found choice) (result.Experiment, error) {
	v, err := t.variant(found, t.out.HeldOut)
	if err != nil {
		return result.Experiment{}, err
	}
	base := t.variants[t.Experiment.search.base]
	t.out.Chosen = v.name
	if same(base.scenarios, v.scenarios) {
		t.out.Why = "the best text is the base's own"
		return t.unfinished(result.Stopped{As: result.Complete, Why: t.out.Why}), nil
	}
	v.about, v.name = "found by the search: "+v.name, tuned
	last := *t.Experiment
	last.variants, last.design.Against = []variant{base, v}, base.name
	sum := sha256.Sum256([]byte(t.digest + "\nheld out\n" + t.Experiment.search.text(found)))
	last.digest = "sha256:" + hex.EncodeToString(sum[:])
	res, err := last.run(ctx, t.options("held-out scenarios", "held-out"), t.out.Used)
	if err != nil {
		return result.Experiment{}, fmt.Errorf("compare the found text with the base: %w", err)
	}
	t.judge(&res, found)
	res.Tune = &t.out
	return res, nil
}

// judge promotes the found text if it is better.
func (t *tuning) judge(res *result.Experiment, found choice) {
	i := slices.IndexFunc(res.Comparisons, func(c result.Comparison) bool { return c.Role == result.Primary && c.Variant == tuned })
	c := &res.Comparisons[i]
	// An interrupted comparison is not decided: a single comparison ends at the look that decides
	// it.
	t.out.Promoted = c.Verdict == result.Better
	if t.out.Promoted {
		t.out.Text = t.Experiment.search.text(found)
	}
	t.out.Why = fmt.Sprintf("%s on the held-out scenarios: %s", c.Verdict, c.Why)
}

// unfinished returns the result of a search that did not reach the held-out scenarios.
func (t *tuning) unfinished(stopped result.Stopped) result.Experiment {
	if t.out.Why == "" {
		t.out.Why = "the search did not finish: " + stopped.Why
	}
	return result.Experiment{
		Schema: result.ExperimentSchema, Tool: t.opts.Tool, Name: t.file.Name, About: t.file.About, File: t.path, Digest: t.digest,
		Prices: t.opts.Env.Prices.Date, Design: t.design, Stopped: stopped, Used: result.Used{CostKnown: true}, Tune: &t.out,
	}
}
