package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// PairedPower is the probability that Student's two-sided test of n paired differences
// at level alpha rejects, where their mean is effect standard deviations away from 0.
// That is the tail of the noncentral t distribution (Johnson, Kotz and Balakrishnan,
// Continuous Univariate Distributions 2, 1995, chapter 31): with ν = n-1, the quantile
// t of Student's distribution and the noncentrality δ = effect·√n,
//
//	E[Φ(δ - t·√(V/ν)) + Φ(-δ - t·√(V/ν))], V ~ χ²(ν)
//
// It is 0 for less than two pairs. Alpha is in (0, 1).
func PairedPower(n int, effect, alpha float64) float64 {
	if !(alpha > 0 && alpha < 1) {
		panic(fmt.Sprintf("stat: no power at level %g", alpha))
	}
	if n < 2 {
		return 0
	}
	nu := float64(n - 1)
	t := distuv.StudentsT{Sigma: 1, Nu: nu}.Quantile(1 - alpha/2)
	delta := math.Abs(effect) * math.Sqrt(float64(n))
	chi := distuv.ChiSquared{K: nu}
	// In the logarithm of V/ν the density is smooth, whatever the degrees of freedom.
	f := func(x float64) float64 {
		v := nu * math.Exp(x)
		s := t * math.Exp(x/2)
		tails := distuv.UnitNormal.Survival(s-delta) + distuv.UnitNormal.Survival(s+delta)
		return tails * chi.Prob(v) * v
	}
	wide := 12 / math.Sqrt(nu)
	return min(1, quad.Fixed(f, -2.5*wide, wide, 200, quad.Legendre{}, 0))
}

// maxPairs is the largest number that PairedNeeded gives.
const maxPairs = 100_000_000

// PairedNeeded is the least number of pairs with which PairedPower reaches power; 0 if
// none of up to a hundred million does.
func PairedNeeded(effect, alpha, power float64) int {
	if !(math.Abs(effect) > 0) || math.IsInf(effect, 0) {
		return 0
	}
	lo, hi := 1, 2
	for PairedPower(hi, effect, alpha) < power {
		if lo, hi = hi, 2*hi; hi > maxPairs {
			return 0
		}
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; PairedPower(mid, effect, alpha) < power {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// Inflation is by how much more data a plan of looks takes than one test at the end, for
// the same power to find an effect at level alpha (Jennison and Turnbull, Group
// Sequential Methods, 2000, section 2.4).
func (s *Sequential) Inflation(alpha, power float64) float64 {
	fixed := distuv.UnitNormal.Quantile(1-alpha/2) + distuv.UnitNormal.Quantile(power)
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
