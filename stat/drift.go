package stat

import (
	"math"
)

// Drift describes how much the times of two runs can differ although nothing changed. Successive
// trials share the load of the machine, so they are dependent, and the means of two runs differ by
// more than the spread of their trials suggests. The load is modelled as an autoregressive process
// of order 1: trials k apart have the correlation ρ^k.
type Drift struct {
	n      int
	spread float64 // standard deviation of trials within their run
	lag    float64 // correlation of a trial with the next one, as observed
	rho    float64
	series int
}

// NewDrift returns the drift of a measure with the given values in the trials of both runs; NaN
// marks a missing value. It is treated as the only measure unless PoolDrifts is called.
func NewDrift(before, after []float64) *Drift {
	d := &Drift{}
	var squares, products float64
	trials := 0
	for _, run := range [][]float64{before, after} {
		var known Moments
		for _, x := range run {
			if !math.IsNaN(x) {
				known.Add(x)
			}
		}
		d.n = known.N()
		trials += d.n
		squares += known.m2
		for i, x := range run {
			if i > 0 && !math.IsNaN(x) && !math.IsNaN(run[i-1]) && known.m2 > 0 {
				// Both runs have equal weights, whatever their spread.
				products += (x - known.mean) * (run[i-1] - known.mean) / known.m2 / 2
			}
		}
	}
	d.spread, d.lag = math.Sqrt(squares/float64(max(1, trials-2))), products
	PoolDrifts([]*Drift{d}, 1)
	return d
}

// The assumptions about the load of a machine. Fewer trials than leastLagged cannot show a
// correlation, which is then assumed to be mostLag, the largest plausible one.
const (
	leastLagged = 5
	mostLag     = 0.9
)

// PoolDrifts estimates ρ from all measures of a comparison, which were taken on the same machine:
// the mean of the observed correlations r of n trials, minus the bias of each (Kendall, Biometrika
// 41, 1954: E r = ρ - (1 + 3ρ) / n), plus one standard error. series is the number of scenarios
// among the measures.
func PoolDrifts(all []*Drift, series int) {
	rho, trials := 0.0, 0.0
	for _, d := range all {
		if n := float64(d.n); d.n >= leastLagged && d.spread > 0 {
			rho += n * (n*d.lag + 1) / (n - 3)
			trials += n
		}
	}
	if rho /= trials; trials == 0 {
		rho = mostLag
	} else {
		shared := float64(len(all)) / float64(max(1, series)) // measures of one scenario move together
		rho += math.Sqrt((1 - min(1, rho*rho)) / (2 * trials / shared))
	}
	for _, d := range all {
		d.rho, d.series = max(0, min(0.95, rho)), max(1, series)
	}
}

// Bound returns the difference of two runs that load alone exceeds with probability at most alpha:
// Student's quantile times the standard error of the difference. With
//
//	v = (1 + 2·Σ (1 - k/n)·ρ^k) / n, k = 1 ... n-1
//
// the variance of the mean of a run is v·σ², and the expected square of the spread within a
// run is σ²·(1 - v)·n/(n-1). The degrees of freedom, (1 + n/10)·series^¼, are chosen by
// simulation with ρ of up to 0.9 (BenchmarkLoad in harness/compare). It is infinite for
// fewer than two trials.
func (d *Drift) Bound(alpha float64) float64 {
	if d.n < 2 {
		return math.Inf(1)
	}
	n := float64(d.n)
	v := (1 + d.rho) / (1 - d.rho) / n
	v -= 2 * d.rho * (1 - math.Pow(d.rho, n)) / (n * n * (1 - d.rho) * (1 - d.rho))
	t := studentsT((1 + n/10) * math.Pow(float64(d.series), 0.25)).quantile(1 - alpha/2)
	return t * d.spread * math.Sqrt(2*v/((1-v)*n/(n-1)))
}
