// Package detect runs detectors over labelled texts and scores their answers: confusion counts,
// rates with intervals, groups, matched spans and steps, a threshold curve, latency and the
// mistakes. A detector is the stop guard, the rule on reflections, the baseline of either, or an
// external program or service.
package detect

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Detector decides whether a message defers work, or a reflection is complacent.
// Implementations are safe for concurrent use. They must not look at the item's label, which they are
// given only so that an implementation can be a table of known answers in tests.
type Detector interface {
	// Name identifies the detector in reports, such as "guard:balanced".
	Name() string
	// Detect returns an error where it has no answer; of the Prediction only Calls
	// and CostEUR then count.
	Detect(ctx context.Context, item Item) (Prediction, error)
}

// Kinded is a Detector for one kind of corpus. Others take any.
type kinded interface {
	Detector
	Kind() CorpusKind
}

// KindOf is the kind of corpus that a detector is for; false if it takes any.
func KindOf(d Detector) (CorpusKind, bool) {
	switch d := d.(type) {
	case kinded:
		return d.Kind(), true
	case atThreshold:
		return KindOf(d.Detector)
	case limitedAt:
		return KindOf(d.Detector)
	}
	return "", false
}

// Prediction is the answer of a detector for one item.
type Prediction struct {
	// Positive says that the message defers, or that the reflection is complacent.
	Positive bool `json:"positive"`
	// Class is the label that the detector would give; empty if it does not say.
	Class string `json:"class,omitempty"`
	// Score is in [0, 1]; nil if the detector has none.
	Score *float64 `json:"score,omitempty"`
	// Spans are byte ranges of the evidence, in order.
	Spans [][2]int `json:"spans,omitempty"`
	// Categories of what was detected, each once.
	Categories []string `json:"categories,omitempty"`
	Steps      []string `json:"steps,omitempty"`
	// Reasons explain, for a person.
	Reasons []string `json:"reasons,omitempty"`
	// Signals are what a score is made of: name to value before weighting.
	Signals map[string]float64 `json:"signals,omitempty"`
	// Calls is how many calls to a model this took, and CostEUR what they cost; nil
	// where the price of one is not known.
	Calls   int      `json:"calls,omitempty"`
	CostEUR *float64 `json:"cost_eur,omitempty"`
	// Took is measured by the runner, not by the detector.
	Took time.Duration `json:"-"`
}

// SortSpans puts byte ranges in order, each once.
func SortSpans(spans [][2]int) [][2]int {
	slices.SortFunc(spans, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(spans)
}
