package stat

import "math"

// Crossing returns the probability that a standard Brownian motion with a drift is beyond
// ±bounds[k]·√times[k] at any of the ascending times, for comparison with published tables.
func Crossing(times, bounds []float64, drift float64) float64 {
	w, total := walk{}, 0.0
	for k, t := range times {
		b := bounds[k] * math.Sqrt(t)
		total += w.beyond(t, b, drift) + w.under(t, b, drift)
		w.next(t, b, drift)
	}
	return total
}

// PairedPower returns the probability that Student's two-sided test of n paired differences at
// level alpha rejects, if their mean is effect standard deviations away from 0. It is 0 for fewer
// than two pairs. alpha is in (0, 1).
func PairedPower(n int, effect, alpha float64) float64 {
	if n < 2 {
		return 0
	}
	return studentPower(effect*math.Sqrt(float64(n)), float64(n-1), alpha)
}

// PairedNeeded returns the smallest number of pairs with which PairedPower reaches power; 0 if none
// up to a hundred million does.
func PairedNeeded(effect, alpha, power float64) int {
	if !(math.Abs(effect) > 0) || math.IsInf(effect, 0) {
		return 0
	}
	return least(func(n int) bool { return PairedPower(n, effect, alpha) >= power })
}
