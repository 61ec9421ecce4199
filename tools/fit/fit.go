// Command fit fits weights for the signals of the stop guard to labelled messages:
//
//	go run ./tools/fit corpus.jsonl
//
// It is a logistic regression, whose table of weights a person can read before it is
// shipped in agents/stop. It reports how well the weights do on repositories that they
// have not seen. One corpus and one seed give one result, byte for byte.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// Sample is a labelled item with the shipped detector's prediction: weights are fitted to
// its Signals, and compared with its answer.
type Sample struct {
	Item       detect.Item
	Prediction detect.Prediction
}

// Options configures Fit. The zero value is the documented default.
type Options struct {
	// Positive are the labels to find; "defers" alone if empty.
	Positive []string
	// Weight returns the weight of an item, at least 0: lower for a doubtful label, or
	// higher for a rare class. 1 if nil.
	Weight func(detect.Item) float64
	// Signs restricts the weights of signals: a positive number to 0 or above, a negative
	// one to 0 or below.
	Signs map[string]int
	// Prior has the weights towards which the penalty pulls, such as the shipped ones.
	// The zero value pulls towards 0.
	Prior Model
	// Lambdas are the strengths of the penalty λ/2·Σ(w - prior)² to choose from, all
	// above 0; by default 0.1, 0.3, 1, 3, 10, 30 and 100.
	Lambdas []float64
	// Folds is the number of parts of the groups for cross-validation, at least 2. 0
	// leaves out one group at a time, or makes 10 parts of more than 30 groups. A group is a repository; an item without one is its own.
	Folds int
	// MinSupport is the number of items of the training set that must have a signal for
	// it to get a weight; 0 means 3.
	MinSupport int
	// Digits is the number of decimals of the weights, which are rounded before they are
	// scored; 0 means 2.
	Digits int
	// Resamples and Seed are those of detect.ScoreOptions.
	Resamples int
	Seed      uint64
}

const (
	innerFolds = 5  // of a training set, to choose λ and the threshold
	manyGroups = 30 // more than this many groups are not left out one by one
	someFolds  = 10
)

var defaultLambdas = []float64{0.1, 0.3, 1, 3, 10, 30, 100}

// filled returns o with its defaults, or an error if it is not valid.
func (o Options) filled() (Options, error) {
	if len(o.Positive) == 0 {
		o.Positive = detect.Messages.Labels()[:1]
	}
	if len(o.Lambdas) == 0 {
		o.Lambdas = defaultLambdas
	}
	// The strongest penalty is the easiest to solve, and the others start from it.
	o.Lambdas = slices.Sorted(slices.Values(o.Lambdas))
	slices.Reverse(o.Lambdas)
	if least := o.Lambdas[len(o.Lambdas)-1]; !(least > 0) || math.IsInf(o.Lambdas[0], 0) {
		return o, fmt.Errorf("fit: lambdas %v are not all finite and above 0", o.Lambdas)
	}
	o.MinSupport = cmp.Or(o.MinSupport, 3)
	o.Digits = cmp.Or(o.Digits, 2)
	if o.Folds == 1 || o.Folds < 0 {
		return o, fmt.Errorf("fit: %d folds; at least 2 are needed, or 0 for one a group", o.Folds)
	}
	if o.Digits < 1 || o.Digits > 9 {
		return o, fmt.Errorf("fit: weights with %d decimals; choose from 1 to 9", o.Digits)
	}
	return o, o.scores("").Validate()
}

func (o Options) scores(detector string) detect.ScoreOptions {
	return detect.ScoreOptions{Detector: detector, Positive: o.Positive, Resamples: o.Resamples, Seed: o.Seed}
}

// Model is a table of weights.
type Model struct {
	// Intercept is the log-odds of a message without any signal.
	Intercept float64 `json:"intercept"`
	// Threshold is the score from which a message is positive.
	Threshold float64 `json:"threshold"`
	// Lambda is the penalty that was chosen.
	Lambda float64 `json:"lambda"`
	// Weights are in log-odds for each unit of a signal. Those of 0 are left out.
	Weights map[string]float64 `json:"weights"`
}

// Score is the estimate that a message with the signals is positive, in (0, 1):
// 1/(1+exp(-x)) with x the intercept and the weighted sum of the signals.
func (m Model) Score(signals map[string]float64) float64 {
	x := m.Intercept
	for _, name := range slices.Sorted(maps.Keys(signals)) { // sums depend on the order
		x += m.Weights[name] * signals[name]
	}
	return logistic(x)
}

// Weight is a line of the table.
type Weight struct {
	Signal string  `json:"signal"`
	Weight float64 `json:"weight"`
	// Items is the number of items with the signal, Positives of those to find.
	Items     int `json:"items"`
	Positives int `json:"positives"`
	// Lowest, Highest and Deviation (of the population) describe the weight over the
	// folds; the weight of a signal that depends on one repository varies.
	Lowest    float64 `json:"lowest"`
	Highest   float64 `json:"highest"`
	Deviation float64 `json:"deviation"`
	// Bound is true if the weight would have the forbidden sign.
	Bound bool `json:"bound,omitempty"`
	// Rare is true if too few items have the signal to give it a weight.
	Rare bool `json:"rare,omitempty"`
}

// Fold is a part that was left out.
type Fold struct {
	// Groups were left out; at most five are named.
	Groups []string `json:"groups"`
	Items  int      `json:"items"`
	// Lambda and Threshold were chosen without them.
	Lambda    float64 `json:"lambda"`
	Threshold float64 `json:"threshold"`
}

// Result is a fitted model and its evaluation.
type Result struct {
	Model Model `json:"model"`
	// Table has all signals, the heaviest first.
	Table []Weight `json:"table"`
	Items int      `json:"items"`
	// Groups is the number of groups.
	Groups int    `json:"groups"`
	Folds  []Fold `json:"folds"`
	// Fitted evaluates weights that have not seen the item's group, Shipped the
	// detector; Paired compares the two.
	Fitted  detect.Evaluation `json:"fitted"`
	Shipped detect.Evaluation `json:"shipped"`
	Paired  detect.Comparison `json:"paired"`
	// Seen evaluates Model on its own training set, which is optimistic.
	Seen detect.Scores `json:"seen"`
	// Warnings are reasons to distrust the weights.
	Warnings []string `json:"warnings,omitempty"`
}

// The names of the two sides of Result.Paired.
const (
	Shipped = "shipped weights"
	Fitted  = "fitted weights, cross-validated"
)

// Fit fits weights to the samples by an L2-penalised logistic regression. It chooses the
// penalty and the threshold by cross-validation within the training set, and
// cross-validates that whole procedure by group. It is an error if the samples have no
// signals, only one class or fewer than two groups.
func Fit(samples []Sample, o Options) (Result, error) {
	o, err := o.filled()
	if err != nil {
		return Result{}, err
	}
	d, err := newData(samples, o)
	if err != nil {
		return Result{}, err
	}
	everything := d.all()
	outer := d.folds(everything, o.Folds)
	if len(outer) < 2 {
		return Result{}, errors.New("fit: all items are of one group; at least two repositories are needed to measure how weights generalise")
	}
	r := Result{Items: len(samples), Groups: d.groups(everything)}
	answers := make([]detect.Prediction, len(samples))
	found := make([]fitted, len(outer))
	var group sync.WaitGroup // folds are independent
	for n, left := range outer {
		group.Go(func() { found[n] = d.fit(without(everything, left)) })
	}
	group.Wait()
	for n, left := range outer {
		f := found[n]
		for _, i := range left {
			answers[i] = f.predict(&d.rows[i])
		}
		r.Folds = append(r.Folds, Fold{Groups: d.names(left), Items: len(left), Lambda: f.lambda, Threshold: f.threshold})
	}
	final := d.fit(everything)
	r.Model = d.model(final)
	r.Table = d.table(final, found)
	r.compare(samples, answers, o)
	seen := detect.NewScorer(o.scores(""))
	for i := range samples {
		seen.Add(samples[i].Item, final.predict(&d.rows[i]), nil)
	}
	r.Seen = seen.Result().Overall
	for _, f := range append(found, final) {
		if !f.converged {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the weights for λ = %g did not settle", f.lambda))
		}
	}
	return r, nil
}

// compare scores the answers of weights that had not seen the item, and those of the
// detector.
func (r *Result) compare(samples []Sample, answers []detect.Prediction, o Options) {
	unseen, shipped := detect.NewScorer(o.scores(Fitted)), detect.NewScorer(o.scores(Shipped))
	pair := detect.NewPair(Shipped, Fitted, o.scores(""))
	for i, s := range samples {
		unseen.Add(s.Item, answers[i], nil)
		shipped.Add(s.Item, s.Prediction, nil)
		pair.Add(s.Item, s.Prediction, answers[i], nil, nil)
	}
	r.Fitted, r.Shipped, r.Paired = unseen.Result(), shipped.Result(), pair.Result()
}
