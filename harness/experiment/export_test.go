package experiment

import (
	"context"
	"math/rand/v2"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/stat"
)

// World simulates experiments whose true effects are known, for the code that decides real
// ones.
type World struct {
	Design    result.Design
	Variants  []string
	Scenarios int
	// Draw begins an experiment. The returned function draws the primary measure of one
	// trial of a variant in a scenario.
	Draw func(r *rand.Rand) func(variant, scenario int) float64
	// Cut, if set, returns the number of trials of each variant after which a cap ends the
	// experiment; 0 means never.
	Cut func(r *rand.Rand) int

	decider *decider
	plans   map[int]*stat.Sequential
}

// Run simulates one experiment. It returns the final verdicts and the number of trials of
// each variant in each scenario.
func (w *World) Run(r *rand.Rand) (verdicts []result.Verdict, trials int) {
	if w.decider == nil {
		w.decider = newDecider(w.Design, w.Variants, make([]string, w.Scenarios))
	}
	values := make(table, len(w.Variants))
	for v := range values {
		values[v] = make([][]float64, w.Scenarios)
	}
	var all []comparison
	draw, cut, made := w.Draw(r), 0, 0
	if w.Cut != nil {
		cut = w.Cut(r)
	}
	for look, upTo := range w.decider.looks {
		for ; made < upTo; made++ {
			if cut > 0 && made == cut {
				plan, last := w.cutAt(made)
				return verdictsOf(w.decider.compare(plan, last, []table{values})), made
			}
			for s := range w.Scenarios {
				for v := range w.Variants {
					values[v][s] = append(values[v][s], draw(v, s))
				}
			}
		}
		all = w.decider.compare(w.decider.planned, look, []table{values})
		if done, of := decided(all); done == of {
			break
		}
	}
	return verdictsOf(all), made
}

// Explained simulates one experiment and returns its final comparisons.
func (w *World) Explained(r *rand.Rand) []result.Comparison {
	d := newDecider(w.Design, w.Variants, make([]string, w.Scenarios))
	values, draw := make(table, len(w.Variants)), w.Draw(r)
	for v := range values {
		values[v] = make([][]float64, w.Scenarios)
	}
	for range w.Design.Trials {
		for s := range w.Scenarios {
			for v := range w.Variants {
				values[v][s] = append(values[v][s], draw(v, s))
			}
		}
	}
	all := d.compare(d.planned, 0, []table{values})
	return d.explain(all, w.Design.Alpha, []table{values})
}

// cutAt caches plans, which take time to compute.
func (w *World) cutAt(trials int) (*stat.Sequential, int) {
	if w.plans == nil {
		w.plans = map[int]*stat.Sequential{}
	}
	if w.plans[trials] == nil {
		w.plans[trials], _ = w.decider.cut(float64(trials))
	}
	_, last := w.decider.cut(float64(trials))
	return w.plans[trials], last
}

func verdictsOf(all []comparison) []result.Verdict {
	verdicts := make([]result.Verdict, len(all))
	for i := range all {
		verdicts[i] = all[i].verdict
	}
	return verdicts
}

// Compared returns the comparisons of a single final analysis of values by variant, scenario
// and trial; NaN is unknown.
func Compared(d result.Design, values [][][]float64) []result.Comparison {
	names := make([]string, len(values))
	for v := range names {
		names[v] = string(rune('a' + v))
	}
	is := newDecider(d, names, make([]string, len(values[0])))
	return is.explain(is.compare(is.planned, 0, []table{values}), d.Alpha, []table{values})
}

// ValuesOf returns the known measures of a trial.
func ValuesOf(j harness.Judged) map[string]float64 {
	known, _ := values(&j, nil)
	return known
}

// Reserve makes a call of a trial. It returns the reason for the refusal and the cause of
// the trial's end.
func Reserve(b *llm.Budget) (refused, ended error) {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	_, refused = (&trialMeter{budget: b, stop: stop}).Reserve(ctx, drive.Call{})
	return refused, context.Cause(ctx)
}

// Reseed changes the draws of all trials, including those of a search.
func (e *Experiment) Reseed(seed uint64) {
	e.file.Seed = seed
	for v := range e.variants {
		e.variants[v].scenarios, _ = e.varied(e.variants[v].set, namesOf(e.variants[v].scenarios))
	}
}

// Answers gives specs access to stored answers.
type Answers struct{ *answers }

// OpenAnswers opens the answers beside a journal.
func OpenAnswers(journal string) (Answers, error) {
	a, err := openAnswers(journal, nil)
	return Answers{a}, err
}

// Add stores an answer and returns its hash.
func (a Answers) Add(text string) (string, error) { return a.add(text) }

// Text returns a stored answer.
func (a Answers) Text(hash string) string { return a.texts[hash] }

// Close closes the file.
func (a Answers) Close() error { return a.close() }
