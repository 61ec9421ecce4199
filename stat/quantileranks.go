package stat

// quantileRanks returns the ranks, from 1, of two of n values in ascending order that enclose the
// q-quantile of their distribution, and the probability that they do. The number of values below
// the quantile is binomial; ranks are added on the more likely side, on the left for equal ones,
// until the level is reached (David and Nagaraja, Order Statistics, 2003, section 7.1). If all
// ranks do not reach it, the probability is below the level.
func quantileRanks(n int, q, level float64) (lo, hi int, coverage float64) {
	if n < 2 || q <= 0 || q >= 1 {
		return 0, 0, 0
	}
	below := binomial{n: n, p: q}
	chance := func(k int) float64 { // of k values below; for none or all, a rank is missing
		if k < 1 || k > n-1 {
			return 0
		}
		return below.prob(k)
	}
	lo = min(max(int(float64(n+1)*q), 1), n-1)
	hi, coverage = lo+1, chance(lo)
	left, right := chance(lo-1), chance(hi)
	for coverage < level && (left > 0 || right > 0) {
		if left >= right*(1-1e-9) { // equal except for rounding
			lo, coverage = lo-1, coverage+left
			left = chance(lo - 1)
		} else {
			hi, coverage = hi+1, coverage+right
			right = chance(hi)
		}
	}
	return lo, hi, min(1, coverage)
}
