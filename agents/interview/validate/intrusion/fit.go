package intrusion

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

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
	rows     []logistic.Row
}

// NewSet computes the features of examples.
func NewSet(examples []Example) *Set {
	s := &Set{examples: examples, rows: make([]logistic.Row, len(examples))}
	for i, e := range examples {
		r := read(e.Text)
		row := &s.rows[i]
		for _, f := range r.features {
			row.Columns = append(row.Columns, int32(f.column)) //nolint:gosec // below columns
			row.Values = append(row.Values, float32(r.value(f.group)))
		}
	}
	return s
}

// Digest returns a hash of the features and labels of all examples.
func (s *Set) Digest() string {
	h := sha256.New()
	for i, row := range s.rows {
		fmt.Fprintln(h, s.examples[i].Private, s.examples[i].Weight, len(row.Columns))
		_ = binary.Write(h, binary.LittleEndian, row.Columns)
		_ = binary.Write(h, binary.LittleEndian, row.Values)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// rareness returns by how much the values of each column are multiplied during a fit, so that rare features can get large
// weights: the inverse document frequency, and 0 for those of too few texts.
func (s *Set) rareness(kept []int) []float64 {
	counts, last := make([]int, columns), make([]int, columns)
	for n, i := range kept {
		for _, column := range s.rows[i].Columns {
			if last[column] != n+1 {
				last[column] = n + 1
				counts[column]++
			}
		}
	}
	factors := make([]float64, columns)
	for column, n := range counts {
		if n >= minTexts {
			factors[column] = (1 + math.Log(float64(1+len(kept))/float64(1+n))) / 4
		}
	}
	return factors
}

// Fit fits a model to the examples for which keep is true; their weight against the penalty on large weights is c. It
// returns nil if the context ends.
func (s *Set) Fit(ctx context.Context, c float64, keep func(i int) bool) *Model {
	var kept []int
	for i := range s.examples {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	factors := s.rareness(kept)
	p := logistic.Problem{
		Rows: make([]logistic.Row, len(kept)), Weight: make([]float64, len(kept)), Prior: make([]float64, columns+1), C: c,
		Positive: func(i int) bool { return s.examples[kept[i]].Private },
	}
	for i, example := range kept {
		p.Weight[i] = s.examples[example].Weight
		row := s.rows[example]
		for k, column := range row.Columns {
			if factor := factors[column]; factor > 0 {
				p.Rows[i].Columns = append(p.Rows[i].Columns, column)
				p.Rows[i].Values = append(p.Rows[i].Values, row.Values[k]*float32(factor))
			}
		}
	}
	w := p.Solve(ctx, p.Prior)
	if w == nil {
		return nil
	}
	for column, factor := range factors {
		w[column] *= factor
	}
	m := newModel(w[columns]*logistic.BiasValue, w[:columns])
	m.Fitted = s.Digest()
	return m
}
