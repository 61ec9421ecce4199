package intrusion

import (
	"context"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/logistic"
)

// Example is a labelled text.
type Example struct {
	Text string
	// Private is true if the text asks about, or infers, the private situation of the person addressed.
	Private bool
	// Weight is above 0.
	Weight float64
}

// minTexts is the number of texts that must have a feature for it to get a weight.
const minTexts = 2

// Fit fits a model to examples, whose weight against the penalty on large weights is c. It returns nil if the context
// ends.
func Fit(ctx context.Context, examples []Example, c float64) *Model {
	texts := make([][]feature, len(examples))
	counts := map[string]int{}
	for i, e := range examples {
		texts[i] = features(e.Text)
		for _, f := range texts[i] {
			counts[f.name]++
		}
	}
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n < minTexts })
	names := slices.Sorted(maps.Keys(counts))
	columns := make(map[string]int32, len(names))
	for i, name := range names {
		columns[name] = int32(i) //nolint:gosec // some ten thousand
	}
	p := logistic.Problem{
		Rows: make([]logistic.Row, len(examples)), Weight: make([]float64, len(examples)), Prior: make([]float64, len(names)+1), C: c,
		Positive: func(i int) bool { return examples[i].Private },
	}
	for i, list := range texts {
		p.Weight[i] = examples[i].Weight
		for _, f := range list {
			if column, ok := columns[f.name]; ok {
				p.Rows[i].Columns = append(p.Rows[i].Columns, column)
				p.Rows[i].Values = append(p.Rows[i].Values, float32(f.value))
			}
		}
	}
	w := p.Solve(ctx, p.Prior)
	if w == nil {
		return nil
	}
	m := &Model{bias: w[len(names)] * logistic.BiasValue, weights: make(map[string]float64, len(names))}
	for i, name := range names {
		m.weights[name] = w[i]
	}
	return m
}
