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

// Tune searches for a better text on the training scenarios, and holds the one that it
// ends with against the base on those that are held out, with the experiment's own
// design. It is promoted only if it is better there: what looked best among many is
// partly luck, and the scenarios that it was chosen on cannot tell how much. The search
// does not see the held-out scenarios. The caps are for all of it; with a journal,
// every round has one of its own beside it.
func (e *Experiment) Tune(ctx context.Context, opts Options) (result.Experiment, error) {
	if e.search == nil {
		return result.Experiment{}, errors.New("the experiment has no tune: say what is to be searched, or compare its variants")
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

// tuning is a search under way.
type tuning struct {
	*Experiment
	opts  Options
	out   result.Tune
	round int
}

// search finds the choice that is best on the training scenarios. Stopped says why it
// did not come to an end.
func (t *tuning) search(ctx context.Context) (found choice, stopped *result.Stopped, err error) {
	s := t.Experiment.search
	if s.kind == greedy {
		found = make(choice, len(s.fragments))
		for i, f := range s.fragments {
			kept, stopped, err := t.try(ctx, fmt.Sprintf("the options of %s", f.name), s.around(found, i), 1, s.trials)
			if err != nil || stopped != nil {
				return nil, stopped, err
			}
			found = kept[0]
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

// try tries choices on the training scenarios and keeps the best of them.
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
	res, err := round.carry(ctx, t.options(fmt.Sprintf("round %d of the search", t.round), fmt.Sprintf("round-%d", t.round)), t.out.Used)
	if err != nil {
		return nil, nil, fmt.Errorf("search, round %d: %w", t.round, err)
	}
	add(&t.out.Used, &res.Used)
	told := result.Round{About: about}
	scores := make([]float64, len(choices))
	for i, c := range choices {
		score := res.Variants[i].Measures[0]
		scores[i] = scoreOf(score)
		told.Candidates = append(told.Candidates, result.Candidate{
			Name: res.Variants[i].Name, Choice: t.Experiment.search.shown(c), Score: score,
		})
	}
	if res.Stopped.As != result.Complete {
		t.out.Rounds = append(t.out.Rounds, told)
		return nil, &res.Stopped, nil
	}
	kept := best(choices, scores, t.design.Primary.Better)[:keep]
	for _, c := range kept {
		told.Kept = append(told.Kept, t.Experiment.search.name(c))
	}
	t.out.Rounds = append(t.out.Rounds, told)
	return kept, nil, nil
}

// scoreOf is what candidates are ordered by; NaN where it is not known.
func scoreOf(v measure.Value) float64 {
	if v.Value == nil || !v.Known {
		return math.NaN()
	}
	return *v.Value
}

// part is an experiment of its own on some of this one's scenarios, of which the
// variants are still to be added. It looks once, at the end.
func (t *tuning) part(name string, trials int) *Experiment {
	p := *t.Experiment
	p.variants, p.design.Trials, p.design.Looks, p.design.Spending = nil, trials, 1, "none"
	p.design.Scope, p.design.Secondary = result.These, nil
	p.quantities = p.quantities[:1]
	sum := sha256.Sum256([]byte(t.digest + "\n" + name))
	p.digest = "sha256:" + hex.EncodeToString(sum[:])
	return &p
}

// variant is that of a choice on scenarios.
func (t *tuning) variant(c choice, names []string) (variant, error) {
	s := t.Experiment.search
	v := variant{name: s.name(c), set: s.settings(t.variants[s.base].set, c)}
	var found []problem
	if v.scenarios, found = t.varied(v.set, names); len(found) > 0 {
		return v, fmt.Errorf("the scenario %s cannot be read with the text %s: %s", found[0].scenario, v.name, found[0].Message)
	}
	return v, nil
}

// options are those of one part of the work.
func (t *tuning) options(doing, journal string) Options {
	o := t.opts
	if o.Journal != "" {
		ext := filepath.Ext(o.Journal)
		o.Journal = strings.TrimSuffix(o.Journal, ext) + "-" + journal + ext
	}
	if tell := t.opts.Progress; tell != nil {
		o.Progress = func(p Progress) {
			p.Doing = doing
			tell(p)
		}
	}
	return o
}

// prove holds what was found against the base on the scenarios that are held out.
func (t *tuning) prove(ctx context.Context, found choice) (result.Experiment, error) {
	v, err := t.variant(found, t.out.HeldOut)
	if err != nil {
		return result.Experiment{}, err
	}
	base := t.variants[t.Experiment.search.base]
	t.out.Chosen = v.name
	if same(base.scenarios, v.scenarios) {
		t.out.Why = "the search ended where it began: the best text is the base's own"
		return t.unfinished(result.Stopped{As: result.Complete, Why: t.out.Why}), nil
	}
	v.about, v.name = "found by the search: "+v.name, tuned
	last := *t.Experiment
	last.variants, last.design.Against = []variant{base, v}, base.name
	sum := sha256.Sum256([]byte(t.digest + "\nheld out\n" + t.Experiment.search.text(found)))
	last.digest = "sha256:" + hex.EncodeToString(sum[:])
	res, err := last.carry(ctx, t.options("held-out scenarios", "held-out"), t.out.Used)
	if err != nil {
		return result.Experiment{}, fmt.Errorf("hold what was found against the base: %w", err)
	}
	t.judge(&res, found)
	res.Tune = &t.out
	return res, nil
}

// judge promotes what was found, if it is better.
func (t *tuning) judge(res *result.Experiment, found choice) {
	i := slices.IndexFunc(res.Comparisons, func(c result.Comparison) bool { return c.Role == result.Primary && c.Variant == tuned })
	c := &res.Comparisons[i]
	// One that is interrupted is not decided: with a single comparison it ends at the look
	// which decides that.
	t.out.Promoted = c.Verdict == result.Better
	if t.out.Promoted {
		t.out.Text = t.Experiment.search.text(found)
	}
	t.out.Why = fmt.Sprintf("%s on the scenarios that are held out: %s", c.Verdict, c.Why)
}

// unfinished is the result of a search of which nothing was tried on the scenarios that
// are held out.
func (t *tuning) unfinished(stopped result.Stopped) result.Experiment {
	if t.out.Why == "" {
		t.out.Why = "the search did not come to an end: " + stopped.Why
	}
	return result.Experiment{
		Schema: result.ExperimentSchema, Tool: t.opts.Tool, Name: t.file.Name, About: t.file.About, File: t.path, Digest: t.digest,
		Prices: t.opts.Env.Prices.Date, Design: t.design, Stopped: stopped, Used: result.Used{CostKnown: true}, Tune: &t.out,
	}
}
