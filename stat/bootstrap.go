package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap returns statistic(counts) with the percentile interval of Efron's
// bootstrap over items (Efron and Tibshirani, An Introduction to the Bootstrap,
// 1993, chapter 13).
//
// counts[i] is the number of items with joint outcome i, such as the cells of a confusion matrix,
// or of the matrices of two detectors on the same items. The statistic of these counts does not
// distinguish items with equal outcomes, so drawing n of n items with replacement is the same as
// drawing the counts from the multinomial distribution with the observed shares. The cost of a
// resample therefore depends on the number of outcomes and not on n, and a paired comparison stays
// paired, because an item's outcomes under both detectors are one cell.
//
// Resamples in which the statistic is NaN, such as 0 of 0, are dropped with a warning. Equal seeds
// give equal intervals. There is no interval for fewer than 100 usable resamples, or if all are
// equal, such as for a share of 0 or 1. statistic must not retain its argument.
func Bootstrap(counts []int, statistic func(counts []int) float64, resamples int, seed uint64, level float64) Summary {
	n := 0
	for _, c := range counts {
		if c < 0 {
			panic(fmt.Sprintf("stat: Bootstrap: counts must be at least 0, got %v", counts))
		}
		n += c
	}
	if n == 0 {
		return none()
	}
	s := Summary{Value: statistic(counts), N: n}
	if math.IsNaN(s.Value) {
		s.Warnings = none().Warnings
		return s
	}
	values := resample(counts, n, statistic, resamples, rand.NewPCG(seed, 0))
	if missing := resamples - len(values); missing > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d of %d resamples have no value", missing, resamples))
	}
	if len(values) < 100 {
		s.Warnings = append(s.Warnings, "too few for an interval")
		return s
	}
	slices.Sort(values)
	if values[0] == values[len(values)-1] {
		s.Warnings = append(s.Warnings, "all resamples are equal: the spread is unknown")
		return s
	}
	at := func(i int) float64 { return values[i] }
	s.Interval = &Interval{
		// The percentile interval of a biased statistic can exclude it; extend it to include the
		// value.
		Lo:    min(s.Value, QuantileValue(len(values), at, (1-level)/2)),
		Hi:    max(s.Value, QuantileValue(len(values), at, (1+level)/2)),
		Level: level, Method: "bootstrap", N: n,
	}
	return s
}

// resample returns the values of the statistic that are not NaN.
func resample(counts []int, n int, statistic func([]int) float64, resamples int, src rand.Source) []float64 {
	values := make([]float64, 0, resamples)
	drawn := make([]int, len(counts))
	for range resamples {
		multinomial(drawn, counts, n, src)
		if v := statistic(drawn); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// multinomial fills drawn with n draws among cells with shares proportional to counts, as a chain
// of binomial draws from the remaining draws.
func multinomial(drawn, counts []int, n int, src rand.Source) {
	draws, weight := n, n
	for i, c := range counts {
		switch {
		case draws == 0 || c == 0:
			drawn[i] = 0
		case c == weight: // the last cell that is not empty takes the rest
			drawn[i] = draws
		default:
			p := float64(c) / float64(weight)
			drawn[i] = binomial{n: draws, p: p}.rand(src)
		}
		draws -= drawn[i]
		weight -= c
	}
}
