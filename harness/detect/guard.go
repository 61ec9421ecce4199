package detect

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/harness/corpus"
)

// Guard is the stop guard under a policy. Threshold is the score from which a
// message defers under stop.Balanced, in (0, 1]; 0 means the shipped one.
func Guard(policy stop.Policy, threshold float64) Detector {
	return guard{stop.Options{Policy: policy, Threshold: threshold}}
}

type guard struct{ options stop.Options }

// Name implements Detector.
func (g guard) Name() string {
	name := "guard:" + string(g.options.Policy)
	if g.options.Threshold > 0 {
		name += fmt.Sprintf("@%g", g.options.Threshold)
	}
	return name
}

// Kind implements Kinded.
func (guard) Kind() corpus.Kind { return corpus.Messages }

// Detect implements Detector. Spans are those of the steps, or of the mentions
// where there is no step; a message that may stop has none.
func (g guard) Detect(_ context.Context, item corpus.Item) (Prediction, error) {
	v := stop.Judge(item.Text, g.options)
	p := Prediction{
		Positive: !v.MayStop,
		Class:    string(v.Class),
		Score:    &v.Score,
		Steps:    stop.Texts(v.Steps),
		Reasons:  []string{v.Reason},
		Signals:  make(map[string]float64, len(v.Signals)),
	}
	for _, s := range v.Steps { // only of a message that may not stop
		p.Spans = append(p.Spans, [2]int{s.Start, s.End})
	}
	for _, d := range v.Detections {
		if !d.Real {
			continue
		}
		if p.Positive && len(v.Steps) == 0 {
			p.Spans = append(p.Spans, [2]int{d.Start, d.End})
		}
		if !slices.Contains(p.Categories, string(d.Category)) {
			p.Categories = append(p.Categories, string(d.Category))
		}
		p.Reasons = append(p.Reasons, fmt.Sprintf("%s (%s): %s", d.Pattern, d.Category, d.Why))
	}
	for _, s := range v.Signals {
		p.Signals[s.Name] += float64(s.Count)
		p.Reasons = append(p.Reasons, fmt.Sprintf("%s: %+.2f", s.Name, s.Weight))
	}
	p.Spans = sortedSpans(p.Spans)
	return p, nil
}

// sortedSpans puts spans in order, each once.
func sortedSpans(spans [][2]int) [][2]int {
	slices.SortFunc(spans, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(spans)
}

// AtThreshold is a detector that takes a message as positive from a score on.
// An item without a score is an error.
func AtThreshold(d Detector, threshold float64) Detector {
	t := atThreshold{d, threshold}
	if l, ok := d.(Limited); ok {
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
	limited Limited
}

// AtOnce implements Limited.
func (l limitedAt) AtOnce() int { return l.limited.AtOnce() }

// Name implements Detector.
func (t atThreshold) Name() string { return fmt.Sprintf("%s@%g", t.Detector.Name(), t.threshold) }

// Detect implements Detector.
func (t atThreshold) Detect(ctx context.Context, item corpus.Item) (Prediction, error) {
	p, err := t.Detector.Detect(ctx, item)
	if err != nil {
		return p, err
	}
	if p.Score == nil {
		return p, fmt.Errorf("detector %s gave no score to hold against the threshold", t.Detector.Name())
	}
	p.Positive = *p.Score >= t.threshold
	return p, nil
}
