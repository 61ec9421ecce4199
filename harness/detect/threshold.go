package detect

import (
	"context"
	"fmt"
)

// AtThreshold returns a detector that decides by the score of d: an item that scores at least the
// threshold is positive. An item without a score is an error.
func AtThreshold(d Detector, threshold float64) Detector {
	t := atThreshold{d, threshold}
	if l, ok := d.(limited); ok {
		return limitedAt{t, l}
	}
	return t
}

type atThreshold struct {
	Detector
	threshold float64
}

type limitedAt struct {
	atThreshold
	limited limited
}

// AtOnce returns the limit of the wrapped detector.
func (l limitedAt) AtOnce() int { return l.limited.AtOnce() }

// Name implements Detector.
func (t atThreshold) Name() string { return fmt.Sprintf("%s@%g", t.Detector.Name(), t.threshold) }

// Detect implements Detector.
func (t atThreshold) Detect(ctx context.Context, item Item) (Prediction, error) {
	p, err := t.Detector.Detect(ctx, item)
	if err != nil {
		return p, err
	}
	if p.Score == nil {
		return p, fmt.Errorf("detector %s gave no score to compare with the threshold", t.Detector.Name())
	}
	p.Positive = *p.Score >= t.threshold
	return p, nil
}
