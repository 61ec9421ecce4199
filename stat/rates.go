package stat

import (
	"fmt"
	"math"
)

// Fisher returns the two-sided p-value of Fisher's exact test that two samples, k1 of n1 and k2 of
// n2, have the same rate. It is the probability, with all margins fixed, of every table that is at
// most as likely as the observed one, as in R's fisher.test. Beyond a million in both samples
// together it uses the normal distribution with the same mean and variance. It requires 0 ≤ k ≤ n
// on both sides and panics otherwise.
func Fisher(k1, n1, k2, n2 int) float64 {
	checkRates("Fisher", k1, n1, k2, n2)
	switch {
	case n1 == 0 || n2 == 0:
		return 1
	case n1 > maxFisher-n2:
		return normalFisher(float64(k1), float64(n1), float64(k2), float64(n2))
	}
	// k1+k2 of all n1+n2 are hits; the number of hits in the first sample is hypergeometric.
	hits, all := k1+k2, logChoose(n1+n2, n1)
	chance := func(k int) float64 {
		return math.Exp(logChoose(hits, k) + logChoose(n1+n2-hits, n1-k) - all)
	}
	// Equally likely tables differ by rounding errors.
	limit := chance(k1) * (1 + 1e-7)
	p := 0.0
	for k := max(0, hits-n2); k <= min(n1, hits); k++ {
		if x := chance(k); x <= limit {
			p += x
		}
	}
	return min(1, p)
}

const maxFisher = 1_000_000

func normalFisher(k1, n1, k2, n2 float64) float64 {
	n, hits := n1+n2, k1+k2
	sd := math.Sqrt(n1 / n * n2 * (hits / n) * ((n - hits) / (n - 1)))
	off := math.Abs(k1-n1*(hits/n)) - 0.5 // continuity correction
	if !(off > 0) || sd == 0 {
		return 1
	}
	return min(1, 2*normalSurvival(off/sd))
}

// RateDifference returns k2/n2 - k1/n1 of two independent samples, with
// Newcombe's interval, a hybrid of two Wilson intervals (method 10 in Newcombe,
// Statistics in Medicine 17, 1998, pages 873 to 890):
//
//	lo = d - sqrt((p2 - l2)² + (u1 - p1)²)
//	hi = d + sqrt((u2 - p2)² + (p1 - l1)²)
//
// where l and u are the bounds for each rate. N counts both samples. It requires 0 ≤ k ≤ n
// on both sides and panics otherwise.
func RateDifference(k1, n1, k2, n2 int, level float64) Summary {
	checkRates("RateDifference", k1, n1, k2, n2)
	if n1 == 0 || n2 == 0 {
		return none()
	}
	a, b := Proportion(k1, n1, level), Proportion(k2, n2, level)
	d := b.Value - a.Value
	return Summary{Value: d, N: n1 + n2, Interval: &Interval{
		Lo:    max(-1, d-math.Hypot(b.Value-b.Interval.Lo, a.Interval.Hi-a.Value)),
		Hi:    min(1, d+math.Hypot(b.Interval.Hi-b.Value, a.Value-a.Interval.Lo)),
		Level: level, Method: "newcombe", N: n1 + n2,
	}}
}

// MeanShare returns the mean of the groups' shares, with equal weights for all groups and Wilson's
// interval as in Proportion. Values are 1 and 0. The interval uses the number of trials that would
// have this mean's variance if all groups had the same share: k·n for k groups of n trials, and
// k² / Σ 1/n in general. The groups are strata, as in Within: if their shares differ, the interval
// is conservative. Groups without values are left out.
func MeanShare(groups [][]float64, level float64) Summary {
	var means []float64
	n, inverse := 0, 0.0
	for _, group := range groups {
		if len(group) > 0 {
			means = append(means, Mean(group))
			n += len(group)
			inverse += 1 / float64(len(group))
		}
	}
	if n == 0 {
		return none()
	}
	s := Summary{Value: Mean(means), N: n}
	size := float64(len(means)*len(means)) / inverse
	s.Interval = wilson(s.Value*size, size, level)
	s.Interval.N = n
	return s
}

// wilson returns Wilson's interval for hits of size trials, which need not be integers. It does not
// set N.
func wilson(hits, size, level float64) *Interval {
	z := normalQuantile(1 - (1-level)/2)
	half := z * math.Sqrt(hits*(size-hits)/size+z*z/4)
	in := Interval{
		Lo:    max(0, (hits+z*z/2-half)/(size+z*z)),
		Hi:    min(1, (hits+z*z/2+half)/(size+z*z)),
		Level: level, Method: "wilson",
	}
	// At the ends of the scale the bounds are exact; avoid rounding errors there.
	if hits == 0 {
		in.Lo = 0
	}
	if hits == size {
		in.Hi = 1
	}
	return &in
}

func checkRates(what string, k1, n1, k2, n2 int) {
	if k1 < 0 || k1 > n1 || k2 < 0 || k2 > n2 {
		panic(fmt.Sprintf("stat: %s: k must be between 0 and n, got %d of %d and %d of %d", what, k1, n1, k2, n2))
	}
}

// PassAt returns pass@k: the probability that at least one of k trials passes, by the
// unbiased estimate of Chen et al. (Evaluating Large Language Models Trained on Code, 2021,
// equation 1):
//
//	1 - C(n-c, k) / C(n, k)
//
// for c of n trials that passed. Its interval is Wilson's interval for the pass rate p of a
// trial, transformed by 1 - (1-p)^k. There is no value for fewer than k trials. It requires
// 0 ≤ c ≤ n and k ≥ 1, and panics otherwise.
func PassAt(k, c, n int, level float64) Summary {
	s := PassAll(k, n-c, n, level) // "no trial passes" means that all fail
	s.Value = 1 - s.Value
	if in := s.Interval; in != nil {
		in.Lo, in.Hi = 1-in.Hi, 1-in.Lo
	}
	return s
}

// PassAll returns pass^k: the probability that all of k trials pass, by the unbiased estimate
// of Yao et al. (tau-bench, 2024, section 5):
//
//	C(c, k) / C(n, k)
//
// for c of n trials that passed. Interval and limits are as for PassAt, with p^k.
func PassAll(k, c, n int, level float64) Summary {
	if k < 1 {
		panic(fmt.Sprintf("stat: PassAll: k must be at least 1, got %d", k))
	}
	rate := Proportion(c, n, level)
	if k > n {
		return Summary{Value: math.NaN(), N: n, Warnings: []string{fmt.Sprintf("%d trials are too few for %d in a row", n, k)}}
	}
	s := Summary{Value: 1, N: n}
	for i := range k {
		s.Value *= math.Max(0, float64(c-i)) / float64(n-i)
	}
	power := func(p float64) float64 { return math.Pow(p, float64(k)) }
	// If k is close to n, the estimate can be outside the interval.
	s.Interval = &Interval{
		Lo: min(s.Value, power(rate.Interval.Lo)), Hi: max(s.Value, power(rate.Interval.Hi)),
		Level: level, Method: "wilson", N: n,
	}
	return s
}
