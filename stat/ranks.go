package stat

import (
	"cmp"
	"math"
	"slices"
)

// pairRanks returns the doubled ranks of the differences by size, with their signs; 0 for no
// difference or a missing value.
func pairRanks(before, after []float64) []int {
	differences := make([]float64, len(before))
	for i := range before {
		if d := after[i] - before[i]; !math.IsNaN(d) {
			differences[i] = d
		}
	}
	ranks := midranks(differences, math.Abs, func(d float64) bool { return d != 0 })
	for i, d := range differences {
		if d < 0 {
			ranks[i] = -ranks[i]
		}
	}
	return ranks
}

// complete returns the values of the trials without a missing value.
func complete(before, after [][]float64) (b, a [][]float64) {
	b, a = make([][]float64, len(before)), make([][]float64, len(after))
	for i := range before[0] {
		missing := func(values []float64) bool { return math.IsNaN(values[i]) }
		if slices.ContainsFunc(before, missing) || slices.ContainsFunc(after, missing) {
			continue
		}
		for m := range before {
			b[m], a[m] = append(b[m], before[m][i]), append(a[m], after[m][i])
		}
	}
	return b, a
}

// sampleRanks returns the doubled ranks of the values of both sides together, minus their mean.
func sampleRanks(before, after []float64) []int {
	values := slices.Concat(before, after)
	ranks := midranks(values, func(v float64) float64 { return v }, func(float64) bool { return true })
	for i := range ranks {
		ranks[i] -= len(values) + 1
	}
	return ranks
}

// midranks returns the doubled ranks of the values that count, by their key, and 0 for the others.
// Equal keys share the mean of their ranks.
func midranks(values []float64, key func(float64) float64, counts func(float64) bool) []int {
	ranks := make([]int, len(values))
	var order []int
	for i, v := range values {
		if counts(v) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(key(values[i]), key(values[j])) })
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && key(values[order[to]]) == key(values[order[from]]) {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = from + 1 + to // twice the mean of from+1 ... to
		}
		from = to
	}
	return ranks
}

// pairsP returns the p-value of signed ranks, and the smallest possible one.
func pairsP(signed []int) (p, least float64) {
	plus := 0
	var ranks []int
	for _, r := range signed {
		if r > 0 {
			plus += r
		}
		if r != 0 {
			ranks = append(ranks, max(r, -r))
		}
	}
	slices.Sort(ranks)
	if len(ranks) > maxExact {
		return normalSigned(plus, ranks), math.Ldexp(1, 1-len(ranks))
	}
	return exactSigned(plus, ranks), math.Ldexp(1, 1-len(ranks))
}

// balancedP returns the exact two-sided p-value of a sum of scores, half of them with a plus and
// half with a minus: the share of the ways to choose half of them in which the sum is at least as
// far from 0.
func balancedP(scores []int, sum float64) float64 {
	n, total, lowest := len(scores), 0, slices.Min(scores)
	for _, s := range scores {
		total += s - lowest
	}
	ways := make([][]float64, n/2+1) // by number of chosen scores and their sum
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, s := range scores {
		for k := n / 2; k > 0; k-- {
			for at := total; at >= s-lowest; at-- {
				ways[k][at] += ways[k-1][at-(s-lowest)]
			}
		}
	}
	beyond, all := 0.0, 0.0
	for at, w := range ways[n/2] {
		all += w
		if math.Abs(float64(2*at-total)) >= math.Abs(sum) {
			beyond += w
		}
	}
	return beyond / all
}
