package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// McNemar returns the exact two-sided p-value of McNemar's test (Psychometrika
// 12, 1947) of two classifiers on the same items: b is how many only the one got
// right, c how many only the other. Where they are equally good, b is binomial
// with b+c draws of probability one half, so
//
//	p = min(1, 2 · P(X ≤ min(b, c))), X ~ Binomial(b+c, ½)
//
// It is 1 where the two never differ, and panics on a negative count.
func McNemar(b, c int) float64 {
	if b < 0 || c < 0 {
		panic(fmt.Sprintf("stat: no McNemar test of %d and %d", b, c))
	}
	if b == c {
		return 1 // also 0 and 0, which no distribution has
	}
	binomial := distuv.Binomial{N: float64(b + c), P: 0.5}
	return min(1, 2*binomial.CDF(float64(min(b, c))))
}

// Agreement is the share of items on the diagonal of a square table of counts:
// one rater's classes are its rows, the other's its columns. It is NaN for an
// empty table.
func Agreement(table [][]int) float64 {
	agreed, total := 0, 0
	for i, row := range table {
		for j, n := range row {
			total += n
			if i == j {
				agreed += n
			}
		}
	}
	return float64(agreed) / float64(total)
}

// Kappa is Cohen's kappa of a square table of counts as in Agreement (Educational
// and Psychological Measurement 20, 1960), unweighted:
//
//	(po - pe) / (1 - pe)
//
// where po is the agreement and pe the one that the two margins would give by
// chance. It is NaN where there is nothing to agree on: an empty table, or one
// in which both only ever say the same class.
func Kappa(table [][]int) float64 {
	rows, columns := make([]float64, len(table)), make([]float64, len(table))
	total := 0.0
	for i, row := range table {
		for j, n := range row {
			rows[i] += float64(n)
			columns[j] += float64(n)
			total += float64(n)
		}
	}
	chance := 0.0
	for i := range rows {
		chance += rows[i] * columns[i] / (total * total)
	}
	if !(chance < 1) {
		return math.NaN()
	}
	return (Agreement(table) - chance) / (1 - chance)
}
