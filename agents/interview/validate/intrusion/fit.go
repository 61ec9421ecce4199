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

// Set is a set of examples with their features, which can be fitted in parts.
type Set struct {
	examples []Example
	features [][]feature
}

// NewSet computes the features of examples.
func NewSet(examples []Example) *Set {
	s := &Set{examples: examples, features: make([][]feature, len(examples))}
	for i, e := range examples {
		s.features[i] = features(e.Text)
	}
	return s
}

// Fit fits a model to the examples for which keep is true; their weight against the penalty on large weights is c. It
// returns nil if the context ends.
func (s *Set) Fit(ctx context.Context, c float64, keep func(i int) bool) *Model {
	var kept []int
	counts := map[string]int{}
	for i := range s.examples {
		if !keep(i) {
			continue
		}
		kept = append(kept, i)
		for _, f := range s.features[i] {
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
		Rows: make([]logistic.Row, len(kept)), Weight: make([]float64, len(kept)), Prior: make([]float64, len(names)+1), C: c,
		Positive: func(i int) bool { return s.examples[kept[i]].Private },
	}
	for i, example := range kept {
		p.Weight[i] = s.examples[example].Weight
		for _, f := range s.features[example] {
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
