package stat

import (
	"fmt"
	"math"
	"slices"
)

// maxExact is the largest number of differences for which the exact distribution is used. R uses it
// only below 50 and without ties, although the normal distribution approximates the few different
// sums of ties badly.
const maxExact = 200

// LeastPairs returns the smallest number of paired differences for which a test by signs can be
// significant at level alpha: the least n with 2 / 2^n ≤ alpha. alpha is in (0, 1].
func LeastPairs(alpha float64) int {
	return max(1, int(math.Ceil(1-math.Log2(alpha))))
}

// exactSigned returns the share of the 2^n ways to give signs to the ranks that are at least as
// extreme as plus, in either direction.
func exactSigned(plus int, ranks []int) float64 {
	total, step := sumAndStep(ranks)
	tail := 0.0
	for _, p := range signs(ranks, step, min(plus, total-plus)) {
		tail += p
	}
	return min(1, 2*tail)
}

// signs returns the probabilities of the sums 0, step, ... up to most of the ranks with positive
// signs, if each sign is positive with probability one half. The ranks are in ascending order.
func signs(ranks []int, step, most int) []float64 {
	p := make([]float64, most/step+1)
	p[0] = math.Ldexp(1, -len(ranks)) // of each assignment; 200 ranks do not underflow
	reach := 0
	for _, rank := range ranks {
		r := rank / step
		reach = min(reach+r, len(p)-1)
		for sum := reach; sum >= r; sum-- {
			p[sum] += p[sum-r]
		}
	}
	return p
}

// sumAndStep returns the sum of the ranks and their greatest common divisor, which divides the sum
// of any of them.
func sumAndStep(ranks []int) (sum, step int) {
	for _, r := range ranks {
		sum += r
		for step != 0 && r != 0 {
			step, r = r, step%r
		}
		step += r
	}
	return sum, step
}

func normalSigned(plus int, ranks []int) float64 {
	total, step := sumAndStep(ranks)
	squares := 0.0
	for _, r := range ranks {
		squares += float64(r) * float64(r)
	}
	// Each rank is positive with probability one half, so its variance is r²/4.
	off := max(0, math.Abs(float64(plus)-float64(total)/2)-float64(step)/2)
	return min(1, 2*normalSurvival(off/math.Sqrt(squares/4)))
}

// HodgesLehmann returns the median of the means of all pairs of differences, including pairs of a
// difference with itself and zeros, with an interval between two of those means (Hollander, Wolfe
// and Chicken, Nonparametric Statistical Methods, 2014, section 3.3). The interval inverts
// Wilcoxon's signed-rank test: without ties it contains 0 if and only if the p-value exceeds
// 1 - level. With ties, the ranks of the distribution without ties are used and the interval is
// closed, so its level is at least the one given (Noether, Journal of the American Statistical
// Association 62, 1967). There is no interval if even differences of one sign could not be
// significant.
//
// Time grows as n·log n and memory as n, because means of pairs are counted and not stored.
// HodgesLehmann panics on a difference that is not finite or a level outside (0, 1).
func HodgesLehmann(differences []float64, level float64) Summary {
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("stat: HodgesLehmann: level must be between 0 and 1, got %g", level))
	}
	n := len(differences)
	if n == 0 {
		return none()
	}
	sorted := slices.Sorted(slices.Values(differences))
	if first, last := sorted[0], sorted[n-1]; math.IsNaN(first) || math.IsInf(first, 0) || math.IsInf(last, 0) {
		panic("stat: HodgesLehmann: differences must be finite")
	}
	pairs := n * (n + 1) / 2
	s := Summary{N: n, Value: pairMean(sorted, (pairs+1)/2)}
	if pairs%2 == 0 {
		s.Value = s.Value/2 + pairMean(sorted, pairs/2+1)/2
	}
	out := outside(n, (1-level)/2)
	if out < 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d pairs are too few for an interval", n))
		return s
	}
	s.Interval = &Interval{
		Lo: pairMean(sorted, out+1), Hi: pairMean(sorted, pairs-out),
		Level: level, Method: "signed-rank", N: n,
	}
	return s
}

// outside returns the largest value of the test statistic whose lower tail is at most tail, or -1.
func outside(n int, tail float64) int {
	if n > maxExact {
		size := float64(n)
		mean, sd := size*(size+1)/4, math.Sqrt(size*(size+1)*(2*size+1)/24)
		return int(math.Floor(mean - 0.5 - sd*normalQuantile(1-tail)))
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	p := signs(ranks, 1, n*(n+1)/4+1) // the lower half
	value := 0
	for sum := p[0]; sum <= tail; sum += p[value] {
		value++
	}
	return value - 1
}

// pairMean returns the k-th smallest, from 1, of the means of all pairs of values, including pairs
// of a value with itself. It bisects the range of all floating-point numbers, which takes 64 counts
// for any values.
func pairMean(sorted []float64, k int) float64 {
	lo, hi := ordinal(sorted[0]), ordinal(sorted[len(sorted)-1])
	for lo < hi {
		middle := lo + int64(uint64(hi-lo)/2)
		if pairsUpTo(sorted, ofOrdinal(middle)) >= k {
			hi = middle
		} else {
			lo = middle + 1
		}
	}
	return ofOrdinal(lo)
}

// pairsUpTo counts the means of pairs that are at most x. For each value it counts the partners up
// to the value itself; their largest index decreases as the value grows.
func pairsUpTo(sorted []float64, x float64) int {
	n, count, partners := len(sorted), 0, len(sorted)
	for i := range n {
		for partners > i && sorted[i]/2+sorted[partners-1]/2 > x {
			partners--
		}
		if partners <= i {
			break
		}
		count += partners - i
	}
	return count
}

// ordinal numbers the finite floating-point numbers in ascending order, with one number for -0 and
// 0.
func ordinal(x float64) int64 {
	bits := int64(math.Float64bits(math.Abs(x)))
	if x < 0 {
		return -bits
	}
	return bits
}

func ofOrdinal(i int64) float64 {
	if i < 0 {
		return -math.Float64frombits(uint64(-i))
	}
	return math.Float64frombits(uint64(i))
}
