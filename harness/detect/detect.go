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

// Detector decides whether a message defers work or a reflection is complacent. Implementations
// must be safe for concurrent use. They must ignore the item's label, which is only passed for
// tests with a table of known answers.
//
// A detector for one kind of corpus also has a method Kind() CorpusKind.
type Detector interface {
	// Name identifies the detector in reports, such as "guard:balanced".
	Name() string
	// Detect returns an error if it has no answer; only Calls and CostEUR of the Prediction are
	// then used.
	Detect(ctx context.Context, item Item) (Prediction, error)
}

// Kinded is a Detector for one kind of corpus. Other detectors accept any.
type kinded interface {
	Detector
	Kind() CorpusKind
}

// KindOf returns the kind of corpus that a detector accepts; false if it accepts any.
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
	// Positive reports that the message defers or the reflection is complacent.
	Positive bool `json:"positive"`
	// Class is the predicted label; empty if the detector predicts none.
	Class string `json:"class,omitempty"`
	// Score is in [0, 1]; nil if the detector computes none.
	Score *float64 `json:"score,omitempty"`
	// Spans are byte ranges of the evidence, in order.
	Spans [][2]int `json:"spans,omitempty"`
	// Categories lists the detected categories without duplicates.
	Categories []string `json:"categories,omitempty"`
	Steps      []string `json:"steps,omitempty"`
	// Reasons explain the decision to a person.
	Reasons []string `json:"reasons,omitempty"`
	// Signals are the components of the score before weighting, by name.
	Signals map[string]float64 `json:"signals,omitempty"`
	// Calls counts calls to a model and CostEUR is their cost; nil if a price is unknown.
	Calls   int      `json:"calls,omitempty"`
	CostEUR *float64 `json:"cost_eur,omitempty"`
	// Took is set by Run, not by the detector.
	Took time.Duration `json:"-"`
}

// SortSpans sorts byte ranges and removes duplicates.
func SortSpans(spans [][2]int) [][2]int {
	slices.SortFunc(spans, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(spans)
}
