package stat

import (
	"cmp"
	"fmt"
	"slices"
)

// Holm returns the p-values adjusted for being tested together, in the same order
// (Holm, Scandinavian Journal of Statistics 6, 1979): of m values in ascending
// order p(1) ≤ ... ≤ p(m),
//
//	adjusted(i) = max over j ≤ i of min(1, (m-j+1) · p(j))
//
// To reject where the adjusted value is at most alpha keeps the probability of any
// false rejection among all of them at most alpha, however they depend on each
// other. It panics on a value outside of [0, 1].
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range p {
		if !(p[i] >= 0 && p[i] <= 1) {
			panic(fmt.Sprintf("stat: %g is no p-value", p[i]))
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted, largest := make([]float64, len(p)), 0.0
	for rank, i := range order {
		largest = max(largest, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = largest
	}
	return adjusted
}
