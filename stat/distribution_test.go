package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// near fails t unless got and want agree to twelve digits or are both below 1e-300.
func near(t *rapid.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12*math.Abs(want)+1e-300 && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Fatalf("%s: %v, gonum has %v", what, got, want)
	}
}

func TestDistributionsAgreeWithGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-30, 30).Draw(t, "x")
		p := rapid.Float64Range(1e-12, 1-1e-12).Draw(t, "p")
		near(t, "normal cdf", normalCDF(x), distuv.UnitNormal.CDF(x))
		near(t, "normal survival", normalSurvival(x), distuv.UnitNormal.CDF(-x)) // its Survival subtracts
		near(t, "normal quantile", normalQuantile(p), distuv.UnitNormal.Quantile(p))

		nu := rapid.Float64Range(0.5, 1e5).Draw(t, "nu")
		student := distuv.StudentsT{Sigma: 1, Nu: nu}
		if x > 0 { // below 0 gonum subtracts
			near(t, "student survival", studentsT(nu).survival(x), student.CDF(-x))
		}
		near(t, "student quantile", studentsT(nu).quantile(p), student.Quantile(p))
		near(t, "beta quantile", betaQuantile(nu, x*x+1, p), distuv.Beta{Alpha: nu, Beta: x*x + 1}.Quantile(p))
		near(t, "chi squared density", chiSquaredDensity(nu, x*x+1), distuv.ChiSquared{K: nu}.Prob(x*x+1))

		n := rapid.IntRange(1, 5000).Draw(t, "n")
		k := rapid.IntRange(-1, n+1).Draw(t, "k")
		ours, theirs := binomial{n: n, p: p}, distuv.Binomial{N: float64(n), P: p}
		near(t, "binomial cdf", ours.cdf(k), theirs.CDF(float64(k)))
		if got, want := ours.prob(k), theirs.Prob(float64(k)); math.Abs(got-want) > 1e-9*want+1e-300 {
			t.Fatalf("binomial probability: %v, gonum has %v", got, want)
		}
	})
}

// TestBinomialDraws checks that the mean and variance of many draws are within five standard
// errors of those of the distribution.
func TestBinomialDraws(t *testing.T) {
	for _, b := range []binomial{{1, 0.5}, {7, 0.01}, {30, 0.9}, {2176, 0.3}, {1_000_000, 0.0002}, {1_000_000, 0.5}} {
		src := rand.NewPCG(1, 2)
		const draws = 20_000
		var sum, squares float64
		mean := float64(b.n) * b.p
		variance := mean * (1 - b.p)
		for range draws {
			x := float64(b.rand(src)) - mean
			sum += x
			squares += x * x
		}
		if off := math.Abs(sum/draws) / math.Sqrt(variance/draws); off > 5 {
			t.Errorf("%+v: the mean is %.1f standard errors away", b, off)
		}
		kurtosis := 3 + (1-6*b.p*(1-b.p))/variance
		if off := math.Abs(squares/draws-variance) / (variance * math.Sqrt((kurtosis-1)/draws)); off > 5 {
			t.Errorf("%+v: the variance is %.1f standard errors away", b, off)
		}
	}
}
