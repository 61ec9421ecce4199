package stat

import (
	"math/rand/v2"
)

// Change is a change of level in a series of values.
type Change struct {
	// At is the index of the first value after the change.
	At int
	// P is the p-value of the test that found it, in (0, Alpha].
	P float64
}

// ChangePoints configures the search for changes of level.
type ChangePoints struct {
	// Alpha is the probability of a false alarm: of finding a change in a series without changes; in (0, 1).
	Alpha float64
	// Seed seeds the permutations. Equal seeds give equal results.
	Seed uint64
}

const (
	// minStretch is the least number of values on each side of a change.
	minStretch = 3
	// permutations is the largest number of permutations of a test. The test stops after enough
	// permutations that are at least as extreme as the series.
	permutations, enough = 999, 20
)

// Find returns the changes of level in a series, in order. It tests the maximally selected rank
// statistic (Lausen and Schumacher, Biometrics 48, 1992): with the ranks of the values minus their
// mean as scores r, and S(t) the sum of the first t of n scores,
//
//	M = max over t of S(t)² / (t·(n-t))
//
// the squared, standardized difference between the mean rank before and after t. Its p-value is
// the share of random permutations of the series with an M at least as large, counted by the
// sequential method of Besag and Clifford (Biometrika 78, 1991), which stops early if p is large.
// It is valid for any distribution and any ties, if the values of a series without a change are
// exchangeable. If p ≤ Alpha, the change is at the t of the maximum, and both parts are searched in the
// same way (binary segmentation).
//
// Successive runs share the load of their machine, though. So if changes were found, and the ranks around
// their means between the changes have a positive correlation ρ with the next one, the series is
// searched again with each M multiplied by (1-ρ)/(1+ρ): the share of independent values in an
// autoregressive series of order 1.
//
// In a series of independent values without a change, Find finds one with a probability of at most Alpha;
// so it does, approximately, in each stretch between two real changes. Both sides of a change have at
// least 3 values.
func (c ChangePoints) Find(values []float64) []Change {
	found := c.search(values, 1)
	if len(found) == 0 {
		return nil
	}
	if rho := lagCorrelation(sampleRanks(values, nil), found); rho > 0 {
		found = c.search(values, (1-rho)/(1+rho))
	}
	return found
}

// search finds changes with each statistic multiplied by a share.
func (c ChangePoints) search(values []float64, share float64) (changes []Change) {
	r := rand.New(rand.NewPCG(c.Seed, 0)) //nolint:gosec // a test statistic
	var split func(values []float64, offset int)
	split = func(values []float64, offset int) {
		at, p := testChange(values, share, r)
		if p > c.Alpha {
			return
		}
		split(values[:at], offset)
		changes = append(changes, Change{At: offset + at, P: p})
		split(values[at:], offset+at)
	}
	split(values, 0)
	return changes
}

// testChange returns the most likely change and its p-value.
func testChange(values []float64, share float64, r *rand.Rand) (at int, p float64) {
	if len(values) < 2*minStretch {
		return 0, 1
	}
	scores := sampleRanks(values, nil)
	at, observed := maxRankStatistic(scores)
	if observed == 0 {
		return 0, 1
	}
	observed *= share
	beyond := 0
	for n := 1; n <= permutations; n++ {
		r.Shuffle(len(scores), func(i, j int) { scores[i], scores[j] = scores[j], scores[i] })
		// Equal statistics differ by rounding errors.
		if _, m := maxRankStatistic(scores); m >= observed*(1-1e-9) {
			beyond++
		}
		if beyond == enough {
			return at, float64(enough) / float64(n)
		}
	}
	return at, float64(beyond+1) / (permutations + 1)
}

// lagCorrelation returns the correlation of each score with the next one, around the means between
// changes.
func lagCorrelation(scores []int, changes []Change) float64 {
	var squares, products float64
	from := 0
	for i := range len(changes) + 1 {
		to := len(scores)
		if i < len(changes) {
			to = changes[i].At
		}
		mean, before := meanScore(scores[from:to]), 0.0
		for _, s := range scores[from:to] {
			x := float64(s) - mean
			squares += x * x
			products += before * x // 0 for the first
			before = x
		}
		from = to
	}
	if squares == 0 {
		return 0
	}
	return products / squares
}

func meanScore(scores []int) float64 {
	sum := 0
	for _, s := range scores {
		sum += s
	}
	return float64(sum) / float64(len(scores))
}

// maxRankStatistic returns M, and the t of the maximum.
func maxRankStatistic(scores []int) (at int, most float64) {
	n, sum := len(scores), 0
	for t := 1; t <= n-minStretch; t++ {
		sum += scores[t-1]
		if t < minStretch {
			continue
		}
		if m := float64(sum) * float64(sum) / float64(t*(n-t)); m > most {
			at, most = t, m
		}
	}
	return at, most
}
