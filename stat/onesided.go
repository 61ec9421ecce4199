package stat

import "math"

// EquivalenceP returns the p-value that the difference is margin or more, in either direction: the
// larger of two one-sided tests (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15,
// 1987), BelowP of margin and AboveP of -margin.
func (e Effect) EquivalenceP(margin, reach float64) float64 {
	return max(e.BelowP(margin, reach), e.AboveP(-margin, reach))
}

// BelowP returns the p-value that the true difference is limit or more; a small one shows that it
// is below. reach is the largest possible difference of a single pair, such as the width of the
// range of a measure; shares always use 1. If it is unknown (0, or NaN), a rare pair could differ
// by any amount, and the p-value is 1. It is also 1 if the spread is unknown.
func (e Effect) BelowP(limit, reach float64) float64 {
	return e.oneSided(limit-e.Value, e.Skew, reach)
}

// AboveP returns the p-value that the true difference is limit or less, like BelowP for the other
// direction.
func (e Effect) AboveP(limit, reach float64) float64 {
	return e.oneSided(e.Value-limit, -e.Skew, reach)
}

// oneSided returns the p-value that the true difference is at least distance away from the
// estimate, in the direction of skew. It is at least 2⁻ⁿ.
func (e Effect) oneSided(distance, skew, reach float64) float64 {
	if e.Bound > 0 {
		reach = e.Bound
	}
	if !e.Known() || !(reach > 0) || math.IsInf(reach, 1) {
		return 1
	}
	least := math.Pow(0.5, float64(e.N))
	if e.Bound > 0 {
		return max(e.tail(distance, true), e.unseen(distance/reach), least)
	}
	return max(e.rare(distance, skew, reach), least)
}

// unseen returns the probability that a value with this share of all values has not occurred in the
// observations. It is below 0.05 if the share exceeds about 3/n, the "rule of three".
func (e Effect) unseen(share float64) float64 {
	return math.Pow(1-min(1, max(0, share)), float64(e.Chances))
}

// rare returns the p-value of a difference without the bound of a share, with an allowance for
// values that have not occurred. If a share s of all pairs differs by reach, which is more than any
// observed pair does, the others need to differ by s·reach less to make up the distance. The
// observation then requires that no such pair occurred, with probability (1-s)ⁿ, and that the
// estimate is this small, with the probability that beyond returns. The p-value is the largest
// product over all s. If the product for an s is at most alpha, both happen with probability at
// most alpha if s is the true share.
func (e Effect) rare(distance, skew, reach float64) float64 {
	if distance <= 0 {
		return e.beyond(distance, skew)
	}
	if e.SE == 0 {
		return e.unseen(distance / reach)
	}
	at := func(s float64) float64 { return e.unseen(s) * e.beyond(distance-s*reach, skew) }
	const steps = 32
	// With a larger share the other pairs would certainly differ in the other direction.
	most := min(1, (distance+5*e.SE)/reach)
	best, p := 0.0, 0.0
	for i := range steps + 1 {
		s := most * float64(i) / steps
		if here := at(s); here > p {
			best, p = s, here
		}
	}
	return max(p, at(peak(at, max(0, best-most/steps), min(most, best+most/steps))))
}

// peak returns the position of the single maximum of f between lo and hi, by golden-section search.
func peak(f func(float64) float64, lo, hi float64) float64 {
	golden := (math.Sqrt(5) - 1) / 2
	for range 16 {
		a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if f(a) < f(b) {
			lo = a
		} else {
			hi = b
		}
	}
	return (lo + hi) / 2
}

// beyond returns the probability of an estimate more than distance below the truth, without an
// allowance for values that have not occurred.
//
// If the mean depends on a few extreme values, such as a cost that is rarely high, the spread is
// underestimated whenever the mean is. The variance is therefore taken at the distance: in a
// natural exponential family it grows with the mean by the ratio of the third cumulant to
// the second (Morris, Annals of Statistics 10, 1982). z is then the distance divided by the
// root of SE² + distance·Skew/SE²; for Poisson data this is the score of the mean. The
// variance never decreases. Skew/SE² is also the amount by which another extreme value
// moves the mean; half of it is subtracted from the distance as a continuity correction.
func (e Effect) beyond(distance, skew float64) float64 {
	if distance <= 0 {
		return 1 - e.tail(-distance, false)
	}
	variance := e.SE * e.SE
	step := max(0, skew) / variance
	return e.student().survival((distance - step/2) / math.Sqrt(variance+distance*step))
}

// Needed returns the smallest number of observations, at least the current number, for which p is
// at most alpha with the same value and spread; 0 if no number up to a hundred million is enough. p
// returns a p-value of an effect.
func (e Effect) Needed(alpha float64, p func(Effect) float64) int {
	if !e.Known() {
		return 0
	}
	n := least(func(n int) bool { return p(e.grown(n)) <= alpha })
	if n == 0 {
		return 0
	}
	return max(n, e.N)
}

func (e Effect) grown(n int) Effect {
	more := float64(n) / float64(e.N)
	e.SE, e.DF, e.Skew = e.SE/math.Sqrt(more), e.DF*more, e.Skew/(more*more)
	times := func(count int) int { return int(float64(count)*more + 1e-9) }
	e.N, e.Chances, e.Apart, e.Odd = n, times(e.Chances), times(e.Apart), times(e.Odd)
	return e
}
