package stat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Holm returns the p-values, in the same order, adjusted for multiple tests
// (Holm, Scandinavian Journal of Statistics 6, 1979): of m values in ascending
// order p(1) ≤ ... ≤ p(m),
//
//	adjusted(i) = max over j ≤ i of min(1, (m-j+1) · p(j))
//
// Rejecting the hypotheses whose adjusted value is at most alpha keeps the probability of any
// false rejection at most alpha, whatever the dependence between the tests.
// Holm panics on a value outside [0, 1].
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range p {
		if !(p[i] >= 0 && p[i] <= 1) {
			panic(fmt.Sprintf("stat: %g is not a p-value", p[i]))
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

// Hypothesis is one of several hypotheses that are tested together.
type Hypothesis struct {
	// Group numbers the joint tests: P is already corrected for the hypotheses of its group, as by
	// JointPairs.
	Group int
	// P is the p-value and Least the smallest possible one, or a lower bound of it. Both are in
	// [0, 1].
	P, Least float64
}

// HolmTarone corrects the p-values of hypotheses for the number of their groups
// and returns them in the same order. It is Holm's method with the factor of Tarone
// (Biometrics 46, 1990) instead of the number of groups: a group whose p-values could not
// have been small enough cannot be rejected falsely and needs no share of alpha. With
// Least(g) the smallest p-value that group g can have, the factor is
//
//	K = the smallest k for which at most k groups have Least(g) ≤ alpha / k
//
// In each step, K is taken over the groups with remaining hypotheses, and the smallest
// remaining p-value is rejected if it is at most alpha / K. Rejecting the hypotheses whose
// adjusted value is at most alpha keeps the probability of any false rejection at most
// alpha: at the first false rejection, all groups with a true hypothesis remain, so the K of
// these groups is at most K, and each of them has a p-value below alpha / K with at most
// that probability.
//
// first is K in the first step, and last is K in the step that rejects nothing.
func HolmTarone(tests []Hypothesis, alpha float64) (adjusted []float64, first, last int) {
	order := make([]int, len(tests))
	for i, t := range tests {
		if !(t.P >= 0 && t.P <= 1) || !(t.Least >= 0 && t.Least <= 1) {
			panic(fmt.Sprintf("stat: %+v is not a p-value with its minimum", t))
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(tests[a].P, tests[b].P) })
	adjusted, largest := make([]float64, len(tests)), 0.0
	first = taroneFactor(tests, order, alpha)
	last = first
	rejecting := true
	for at, i := range order {
		if rejecting {
			last = taroneFactor(tests, order[at:], alpha)
		}
		largest = max(largest, min(1, float64(last)*tests[i].P))
		adjusted[i] = largest
		rejecting = rejecting && largest <= alpha
	}
	return adjusted, first, last
}

// taroneFactor returns Tarone's K for the groups of the remaining hypotheses.
func taroneFactor(tests []Hypothesis, left []int, alpha float64) int {
	least := map[int]float64{}
	for _, i := range left {
		if p, ok := least[tests[i].Group]; !ok || tests[i].Least < p {
			least[tests[i].Group] = tests[i].Least
		}
	}
	sorted := slices.Sorted(maps.Values(least))
	for k := 1; ; k++ {
		// More than k groups would have to reach alpha / k.
		if k >= len(sorted) || sorted[k] > alpha/float64(k) {
			return k
		}
	}
}
