package stat

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// The distributions of this package use the special functions of the standard library
// and gonum/mathext. gonum/stat/distuv has them too, but links LAPACK and a
// linear programming solver. Formulas: Abramowitz and Stegun, Handbook of Mathematical Functions,
// 26.2 (normal), 26.5.24 (binomial), 26.7.1 (Student).

func normalCDF(x float64) float64      { return math.Erfc(-x/math.Sqrt2) / 2 }
func normalSurvival(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
func normalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// studentsT is Student's distribution, by its degrees of freedom.
type studentsT float64

// survival returns P(T > x).
func (nu studentsT) survival(x float64) float64 {
	if math.IsInf(float64(nu), 1) {
		return normalSurvival(x)
	}
	tail := mathext.RegIncBeta(float64(nu)/2, 0.5, float64(nu)/(x*x+float64(nu))) / 2
	if x < 0 {
		return 1 - tail
	}
	return tail
}

// quantile returns the x with P(T ≤ x) = p.
func (nu studentsT) quantile(p float64) float64 {
	switch {
	case math.IsInf(float64(nu), 1):
		return normalQuantile(p)
	case p == 0.5:
		return 0
	}
	y := mathext.InvRegIncBeta(float64(nu)/2, 0.5, 2*min(p, 1-p))
	return math.Copysign(math.Sqrt(float64(nu)*(1-y)/y), p-0.5)
}

// betaQuantile returns the x with P(X ≤ x) = p of the beta distribution.
func betaQuantile(alpha, beta, p float64) float64 { return mathext.InvRegIncBeta(alpha, beta, p) }

// chiSquaredDensity returns the density at x > 0 with nu degrees of freedom.
func chiSquaredDensity(nu, x float64) float64 {
	g, _ := math.Lgamma(nu / 2)
	return math.Exp((nu/2-1)*math.Log(x) - x/2 - nu/2*math.Ln2 - g)
}

// binomial is the number of successes in n trials, each with probability p, 0 < p < 1.
type binomial struct {
	n int
	p float64
}

// cdf returns P(X ≤ k).
func (b binomial) cdf(k int) float64 {
	switch {
	case k < 0:
		return 0
	case k >= b.n:
		return 1
	}
	return mathext.RegIncBeta(float64(b.n-k), float64(k+1), 1-b.p)
}

// prob returns P(X = k).
func (b binomial) prob(k int) float64 {
	if k < 0 || k > b.n {
		return 0
	}
	return math.Exp(logChoose(b.n, k) + float64(k)*math.Log(b.p) + float64(b.n-k)*math.Log1p(-b.p))
}

// rand draws from the distribution. It adds up probabilities from the mode outwards until they
// reach a uniform random number, on average within a few standard deviations.
func (b binomial) rand(src rand.Source) int {
	odds := b.p / (1 - b.p)
	mode := min(int(float64(b.n+1)*b.p), b.n)
	lo, hi := mode, mode
	pLo := b.prob(mode)
	pHi := pLo
	left := rand.New(src).Float64() - pLo
	for left > 0 && (lo > 0 || hi < b.n) {
		if hi < b.n {
			pHi *= float64(b.n-hi) / float64(hi+1) * odds
			hi++
			if left -= pHi; left <= 0 {
				return hi
			}
		}
		if lo > 0 {
			pLo *= float64(lo) / float64(b.n-lo+1) / odds
			lo--
			if left -= pLo; left <= 0 {
				return lo
			}
		}
	}
	return mode // also if a rounding error remains
}

func logChoose(n, k int) float64 { return logFactorial(n) - logFactorial(k) - logFactorial(n-k) }

func logFactorial(n int) float64 {
	g, _ := math.Lgamma(float64(n) + 1)
	return g
}
