package kind

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

// Detector returns the stop guard with the given options; the request is that of each item.
func Detector(o stop.Options) detect.Detector {
	o.Policy = cmp.Or(o.Policy, stop.Balanced)
	return guard{o}
}

type guard struct{ options stop.Options }

// Name implements detect.Detector.
func (g guard) Name() string {
	name := "guard:" + string(g.options.Policy)
	if g.options.Threshold > 0 {
		name += fmt.Sprintf("@%g", g.options.Threshold)
	}
	return name
}

// Kind implements detect.Kinded.
func (guard) Kind() detect.CorpusKind { return detect.Messages }

// Detect implements detect.Detector. Spans are those of the steps, or of the mentions
// where there is no step; a message that may stop has none.
func (g guard) Detect(_ context.Context, item detect.Item) (detect.Prediction, error) {
	o := g.options
	o.Request = item.Request
	v := stop.Judge(item.Text, o)
	p := detect.Prediction{
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
	p.Spans = detect.SortSpans(p.Spans)
	return p, nil
}
