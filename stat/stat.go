// Package stat computes confidence intervals and tests by published methods; each interval names
// its method.
package stat

import (
	"fmt"
	"math"
)

// Level is the confidence level of reports.
const Level = 0.95

// Interval is a confidence interval.
type Interval struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
	// Level is the confidence level, in (0, 1). For a quantile it is the actual level, which is
	// approximately the requested one or higher.
	Level float64 `json:"level"`
	// Method is "wilson", "newcombe", "student-t", "order-statistic", "signed-rank",
	// "clopper-pearson" or "bootstrap".
	Method string `json:"method"`
	// N is the number of observations.
	N int `json:"n"`
}

// Summary is a value computed from a sample.
type Summary struct {
	// Value is NaN if N is 0.
	Value float64
	N     int
	// Interval is nil if N is too small.
	Interval *Interval
	// Warnings explain why the value is uncertain.
	Warnings []string
}

// none returns the summary of an empty sample.
func none() Summary {
	return Summary{Value: math.NaN(), Warnings: []string{"there is nothing to measure"}}
}

// Proportion returns k/n with Wilson's score interval, without continuity
// correction (Wilson 1927; method 3 in Newcombe, Statistics in Medicine 17,
// 1998):
//
//	(k + z²/2 ± z·sqrt(k(n-k)/n + z²/4)) / (n + z²)
//
// where z is the normal quantile of the level. It requires 0 ≤ k ≤ n and a level in
// (0, 1), and panics otherwise.
func Proportion(k, n int, level float64) Summary {
	if k < 0 || k > n || !(level > 0 && level < 1) {
		panic(fmt.Sprintf("stat: Proportion: k must be between 0 and n, and level between 0 and 1, got %d of %d at %g", k, n, level))
	}
	if n == 0 {
		return none()
	}
	in := wilson(float64(k), float64(n), level)
	in.N = n
	return Summary{Value: float64(k) / float64(n), N: n, Interval: in}
}

// Quantile returns the q-quantile of n values in ascending order, where at(i) returns the value at
// index i, with an interval between two order statistics.
//
// The value is type 7 of Hyndman and Fan (The American Statistician 50,
// 1996), the default of R and NumPy: it is interpolated linearly between the values at index
// floor((n-1)q) and the next one. The interval is valid for any continuous
// distribution; its ranks and its level are exact, by the binomial distribution.
// There is no interval if n is too small: at level 0.95, below 6 for q = 0.5, 29 for 0.9,
// 59 for 0.95 and 299 for 0.99. q is in [0, 1].
func Quantile(n int, at func(i int) float64, q, level float64) Summary {
	if n == 0 {
		return none()
	}
	s := Summary{Value: QuantileValue(n, at, q), N: n}
	lo, hi, coverage := quantileRanks(n, q, level)
	if !(coverage >= level) {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d values are too few for an interval", n))
		return s
	}
	s.Interval = &Interval{
		Lo: at(lo - 1), Hi: at(hi - 1),
		Level: coverage, Method: "order-statistic", N: n,
	}
	return s
}

// QuantileValue returns the value of Quantile without the interval. It is NaN if n is 0.
func QuantileValue(n int, at func(i int) float64, q float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	h := float64(n-1) * q
	i := min(int(h), n-1)
	value := at(i)
	if rest := h - float64(i); rest > 0 && i+1 < n {
		value += rest * (at(i+1) - value)
	}
	return value
}

// Moments accumulates the mean and the variance of a sample in constant memory,
// by Welford's method (Technometrics 4, 1962), which avoids cancellation. The zero
// value is an empty sample.
type Moments struct {
	n        int
	mean, m2 float64
	sum      float64
}

// Add adds an observation.
func (m *Moments) Add(x float64) {
	m.n++
	delta := x - m.mean
	m.mean += delta / float64(m.n)
	m.m2 += delta * (x - m.mean)
	m.sum += x
}

// N returns the number of observations.
func (m *Moments) N() int { return m.n }

// Sum returns the sum of the observations.
func (m *Moments) Sum() float64 { return m.sum }

// Mean returns the mean with Student's interval, mean ± t·s/sqrt(n), where t is
// the quantile of Student's distribution with n-1 degrees of freedom and s² the
// unbiased variance. There is no interval for a single value or for equal values,
// which are not evidence of the spread.
func (m *Moments) Mean(level float64) Summary {
	if m.n == 0 {
		return none()
	}
	s := Summary{Value: m.mean, N: m.n}
	switch {
	case m.n == 1:
		return s
	case m.m2 == 0:
		s.Warnings = append(s.Warnings, fmt.Sprintf("all %d values are equal", m.n))
		return s
	}
	n := float64(m.n)
	t := studentsT(n - 1).quantile(1 - (1-level)/2)
	half := t * math.Sqrt(m.m2/(n-1)/n)
	s.Interval = &Interval{Lo: m.mean - half, Hi: m.mean + half, Level: level, Method: "student-t", N: m.n}
	return s
}
