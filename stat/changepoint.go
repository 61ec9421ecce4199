package stat

import (
	"math/rand/v2"
	"slices"
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
	// Alpha is the probability of a false alarm: of a change in a series that has none; in (0, 1).
	Alpha float64
	// Seed seeds the permutations. Equal seeds give equal results.
	Seed uint64
}

const (
	// minStretch is the least number of values on each side of a change.
	minStretch = 3
	// permutations is the largest number of permutations of a test, and enough the number of
	// permutations at least as extreme as the series after which it is stopped.
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
// A series without a change has one with a probability of at most Alpha; so has, approximately, each
// stretch between two real changes. Both sides of a change have at least 3 values.
func (c ChangePoints) Find(values []float64) []Change {
	r := rand.New(rand.NewPCG(c.Seed, 0)) //nolint:gosec // a test statistic
	var changes []Change
	c.search(values, 0, r, &changes)
	slices.SortFunc(changes, func(a, b Change) int { return a.At - b.At })
	return changes
}

func (c ChangePoints) search(values []float64, offset int, r *rand.Rand, changes *[]Change) {
	at, p := testChange(values, r)
	if p > c.Alpha {
		return
	}
	*changes = append(*changes, Change{At: offset + at, P: p})
	c.search(values[:at], offset, r, changes)
	c.search(values[at:], offset+at, r, changes)
}

// testChange returns the most likely change and its p-value.
func testChange(values []float64, r *rand.Rand) (at int, p float64) {
	if len(values) < 2*minStretch {
		return 0, 1
	}
	scores := sampleRanks(values, nil)
	at, observed := maxRankStatistic(scores)
	if observed == 0 {
		return 0, 1
	}
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
