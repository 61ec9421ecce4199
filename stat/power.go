package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// studentPower returns the power of Student's test with ν degrees of freedom for an
// estimate that is δ standard errors away from 0. With t the quantile of Student's distribution,
// it is the tail of the noncentral distribution (Johnson, Kotz and Balakrishnan, Continuous
// Univariate Distributions 2, 1995, chapter 31),
//
//	E[Φ(δ - t·√(V/ν)) + Φ(-δ - t·√(V/ν))], V ~ χ²(ν)
func studentPower(delta, nu, alpha float64) float64 {
	if !(alpha > 0 && alpha < 1) {
		panic(fmt.Sprintf("stat: power: alpha must be between 0 and 1, got %g", alpha))
	}
	delta = math.Abs(delta)
	t := studentsT(nu).quantile(1 - alpha/2)
	// As a function of the logarithm of V/ν, the density is smooth for any degrees of freedom.
	f := func(x float64) float64 {
		v := nu * math.Exp(x)
		s := t * math.Exp(x/2)
		tails := normalSurvival(s-delta) + normalSurvival(s+delta)
		return tails * chiSquaredDensity(nu, v) * v
	}
	wide := 12 / math.Sqrt(nu)
	return min(1, quad.Fixed(f, -2.5*wide, wide, 200, quad.Legendre{}, 0))
}

// NormalDrift returns the distance from 0, in standard errors, of a normal estimate that a test at
// level alpha finds as often as Student's test with nu degrees of freedom finds one at delta. It
// adapts Student's test to Sequential.Power.
func NormalDrift(delta, nu, alpha float64) float64 {
	if delta == 0 || math.IsInf(nu, 1) || nu > 1e6 {
		return delta
	}
	power := studentPower(delta, nu, alpha)
	if power <= alpha {
		return 0
	}
	if power > 1-1e-12 {
		return math.Abs(delta)
	}
	z := normalQuantile(1 - alpha/2)
	return math.Copysign(max(0, z+normalQuantile(power)), delta)
}

// maxPairs is the largest result of least.
const maxPairs = 100_000_000

// Inflation returns the factor by which a plan of looks needs more data than a single test at the
// end, for the same power to find an effect at level alpha (Jennison and Turnbull, Group Sequential
// Methods, 2000, section 2.4).
func (s *Sequential) Inflation(alpha, power float64) float64 {
	fixed := normalQuantile(1-alpha/2) + normalQuantile(power)
	lo, hi := fixed, 3*fixed
	for range 40 {
		if mid := (lo + hi) / 2; s.Power(alpha, mid) < power {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi * hi / (fixed * fixed)
}

// ShareDrift is NormalDrift for the difference of two shares: an Effect with bound 1, effect away
// from 0, with a standard error se over n pairs. Its test allows for an underestimated spread and
// therefore needs more.
func ShareDrift(effect, se float64, n int, nu, alpha float64) float64 {
	t := studentsT(nu).quantile(1 - alpha/2)
	half := math.Hypot(t*se, t*t/(float64(n)+t*t))
	return max(0, normalQuantile(1-alpha/2)+(math.Abs(effect)-half)/se)
}

// sharePower returns the probability that the test of a difference of shares over n pairs,
// Effect.P, rejects at level alpha, given the difference and the standard deviation of a pair. It
// is 0 for fewer than two pairs.
func sharePower(n int, effect, deviation, alpha float64) float64 {
	if n < 2 {
		return 0
	}
	drift := ShareDrift(effect, deviation/math.Sqrt(float64(n)), n, float64(n-1), alpha)
	return normalCDF(drift - normalQuantile(1-alpha/2))
}

// ShareNeeded returns the smallest number of pairs with which the test of a difference of shares,
// Effect.P, reaches power; 0 if none up to a hundred million does.
func ShareNeeded(effect, deviation, alpha, power float64) int {
	if effect == 0 || !(deviation > 0) {
		return 0
	}
	return least(func(n int) bool { return sharePower(n, effect, deviation, alpha) >= power })
}

// least returns the smallest number from 2 on that is enough, given that all larger numbers are
// enough, too; 0 if none up to maxPairs is.
func least(enough func(int) bool) int {
	lo, hi := 1, 2
	for !enough(hi) {
		if lo, hi = hi, 2*hi; hi > maxPairs {
			return 0
		}
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
