package detect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ScoreOptions configures a Scorer. The zero value has documented defaults.
type ScoreOptions struct {
	// Detector is the detector's name in reports.
	Detector string
	// Kind is the kind of the items; default Messages.
	Kind CorpusKind
	// Positive lists the labels of the kind that the detector should find; default the first
	// label.
	Positive []string
	// MaxErrors limits the listed false positives, and the listed false negatives; 0 means 50, a
	// negative number none. All are counted.
	MaxErrors int
	// Resamples is the number of bootstrap resamples; 0 means 10,000. Groups use a fifth of it.
	Resamples int
	// Seed seeds the bootstrap.
	Seed uint64
}

const (
	defaultErrors    = 50
	defaultResamples = 10_000
)

// Validate returns an error if an option is invalid.
func (o ScoreOptions) Validate() error {
	labels := o.Kind.Labels()
	for _, label := range o.Positive {
		if !slices.Contains(labels, label) {
			return fmt.Errorf("score: %q is not a label of %s; choose from %q", label, cmp.Or(o.Kind, Messages), labels)
		}
	}
	if o.Resamples < 0 || o.Resamples > 1_000_000 {
		return fmt.Errorf("score: resamples must be between 0 and 1,000,000, got %d", o.Resamples)
	}
	if o.MaxErrors > 100_000 {
		return fmt.Errorf("score: at most 100,000 errors can be listed, got %d", o.MaxErrors)
	}
	return nil
}

func (o ScoreOptions) filled() ScoreOptions {
	if len(o.Positive) == 0 {
		o.Positive = o.Kind.Labels()[:1]
	}
	o.Positive = slices.Clone(o.Positive)
	o.Resamples = cmp.Or(o.Resamples, defaultResamples)
	o.MaxErrors = max(0, cmp.Or(o.MaxErrors, defaultErrors))
	return o
}

// positive reports whether the detector should find the item.
func (o *ScoreOptions) positive(item Item) bool { return slices.Contains(o.Positive, item.Label) }

// Scorer accumulates the answers of a detector for labelled items. The result does not depend on
// the order of the items, except for the last digit of a cost and beyond the limit on groups. It is
// not safe for concurrent use.
type Scorer struct {
	options  ScoreOptions
	labels   []string // of the kind
	items    int
	failed   int
	failures worst[Failure]

	overall     Counts
	groups      [len(dimensions)]grouping
	categories  grouping // without TN
	named       bool     // whether the detector ever named a category
	labelled    bool     // whether a label ever did
	categorised int      // items whose categories are known
	classes     classes
	spans       matches
	steps       matches
	located     int // labelled steps found in their texts
	unlocated   int // and not
	curve       curve
	calibrated  calibration
	latency     latency
	cost        costs
	mistakes    [2]worst[Mistake] // false positives, false negatives
}

// NewScorer returns an empty Scorer. It panics if the options are invalid.
func NewScorer(o ScoreOptions) *Scorer {
	if err := o.Validate(); err != nil {
		panic(err)
	}
	s := &Scorer{
		options: o.filled(), labels: o.Kind.Labels(), classes: newClasses(o.Kind.Labels()),
		failures: worst[Failure]{limit: maxFailed, compare: compareFailures},
	}
	for i := range s.mistakes {
		s.mistakes[i] = worst[Mistake]{limit: s.options.MaxErrors, compare: compareMistakes}
	}
	return s
}

// errNotLabelled is the error of an item without a label.
var errNotLabelled = errors.New("the item has no label")

// Add adds the detector's answer for an item, or its error. Failures are counted separately, as
// neither right nor wrong; only the cost of their prediction is used.
func (s *Scorer) Add(item Item, p Prediction, err error) {
	s.items++
	if err == nil && !slices.Contains(s.labels, item.Label) {
		err = errNotLabelled
	}
	s.cost.add(p.Calls, p.CostEUR) // failed calls cost money, too
	if err != nil {
		s.failed++
		s.failures.add(Failure{ID: clip(item.ID, maxName), Error: clip(err.Error(), maxText)})
		return
	}
	actual := s.options.positive(item)
	s.overall.add(actual, p.Positive)
	for i := range dimensions {
		for _, name := range dimensions[i].of(&item) {
			s.groups[i].at(name).add(actual, p.Positive)
		}
	}
	s.addCategories(&item, p.Categories)
	s.classes.add(item.Label, p.Class)
	s.addMatches(&item, &p, actual)
	s.curve.add(p.Score, actual)
	s.calibrated.add(p.Score, actual)
	s.latency.add(p.Took, len(item.Text))
	if actual != p.Positive {
		s.addMistake(&item, &p, actual)
	}
}

// addCategories compares the labelled and the detected categories.
func (s *Scorer) addCategories(item *Item, detected []string) {
	labelled := item.Categories
	s.named, s.labelled = s.named || len(detected) > 0, s.labelled || len(labelled) > 0
	if labelled == nil && (item.Label == Defers || item.Label == Suggests) {
		return // its categories are unknown; messages with another label have none
	}
	s.categorised++
	for i, name := range labelled {
		if !slices.Contains(labelled[:i], name) {
			s.categories.at(name).add(true, slices.Contains(detected, name))
		}
	}
	for i, name := range detected {
		if !slices.Contains(labelled, name) && !slices.Contains(detected[:i], name) {
			s.categories.at(name).add(false, true)
		}
	}
}

// categoryScores sets TN: the items for which neither names the category. A category that no label
// names is one that the labeller may not know, so a detector that names it is neither right nor
// wrong.
func (s *Scorer) categoryScores(resamples int) []Group {
	full := grouping{counts: map[string]*Counts{}}
	for name, c := range s.categories.counts {
		c := *c
		c.TN = max(0, s.categorised-c.Total())
		full.counts[name] = &c
	}
	groups := full.result(resamples, s.options.Seed)
	for i, g := range groups {
		if g.TP+g.FN == 0 {
			groups[i].Scores = Scores{Counts: g.Counts}
		}
	}
	return groups
}

// Result returns the scores so far. It may be called repeatedly, also between calls of Add.
func (s *Scorer) Result() Evaluation {
	o := s.options
	r := Evaluation{
		Detector: o.Detector, Positive: slices.Clone(o.Positive),
		Items: s.items, Scored: s.overall.Total(), Failed: s.failed,
		Overall: s.overall.scores(o.Resamples, o.Seed),
		Classes: s.classes.result(o.Resamples, o.Seed),
		Spans:   s.spans.result(o), Steps: s.steps.result(o),
		LocatedSteps: s.located, UnlocatedSteps: s.unlocated,
		Curve: s.curve.result(), Calibration: s.calibrated.result(o.Resamples, o.Seed), Latency: s.latency.result(), Cost: s.cost.result(),
		FalsePositives: s.mistakes[0].sorted(), FalseNegatives: s.mistakes[1].sorted(),
	}
	if s.failed > 0 {
		r.Failures = s.failures.sorted()
	}
	few := max(1, o.Resamples/5)
	for i := range dimensions {
		if g := s.groups[i].result(few, o.Seed); len(g) > 0 {
			r.Groups = append(r.Groups, Dimension{By: dimensions[i].name, Groups: g, Merged: s.groups[i].merged})
		}
	}
	switch {
	case s.named && s.labelled:
		r.Categories = s.categoryScores(few)
	case s.named:
		r.Unlabelled = append(r.Unlabelled, "categories")
	}
	if s.located+s.unlocated == 0 {
		if r.Steps != nil {
			r.Unlabelled = append(r.Unlabelled, "steps")
		}
		r.Spans, r.Steps = nil, nil
	}
	return r
}
