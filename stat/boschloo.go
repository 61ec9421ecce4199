package stat

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
)

// maxBoschloo bounds the sizes of both samples together.
const maxBoschloo = 2000

// Boschloo returns the two-sided p-value of Boschloo's exact test that two samples
// have one rate (Statistica Neerlandica 24, 1970): k1 of n1 and k2 of n2. It is twice
// the smaller of the one-sided values, as in SciPy's boschloo_exact.
//
// Fisher's test holds fixed how many passed in both samples together, which nobody
// fixed; of small samples it rejects far less often than it may. Boschloo's takes
// Fisher's one-sided p-value as a statistic, and its own p-value is the largest
// probability, over all rates that both samples may have, of one as small. So it is
// never larger than Fisher's one-sided value, and holds its level all the same. The
// largest is found on a grid of 100 rates and refined around the best.
//
// Beyond 2,000 in both samples together, where the two hardly differ, it is Fisher's.
// It needs 0 ≤ k ≤ n on both sides and panics otherwise.
func Boschloo(k1, n1, k2, n2 int) float64 {
	checkRates("Boschloo's test", k1, n1, k2, n2)
	switch {
	case n1 == 0 || n2 == 0:
		return 1
	case n1 > maxBoschloo-n2:
		return Fisher(k1, n1, k2, n2)
	}
	// The side on which the sample lies has the smaller value.
	if k1*n2 < k2*n1 {
		k1, n1, k2, n2 = k2, n2, k1, n1
	}
	return min(1, 2*oneSided(k1, n1, k2, n2))
}

// LeastBoschloo is the least value that Boschloo can give for samples of n1 and n2:
// where all of the one pass and none of the other, at the rate n1/(n1+n2) of both.
func LeastBoschloo(n1, n2 int) float64 {
	n := float64(n1) + float64(n2)
	way := func(k int) float64 { return float64(k) * math.Log(max(1, float64(k))/n) }
	if n1 == 0 || n2 == 0 {
		return 1
	}
	return min(1, 2*math.Exp(way(n1)+way(n2)))
}

// oneSided is the p-value against a higher rate of the first sample.
func oneSided(k1, n1, k2, n2 int) float64 {
	r := region{first: newBinomial(n1), second: newBinomial(n2), least: make([]int, n2+1)}
	// Ranks that are equal differ by rounding.
	limit := upperTail(k1, n1, k2, n2) * (1 + 1e-9)
	k := 0
	for j := range r.least {
		// The more pass in the second sample, the more have to in the first.
		for k <= n1 && upperTail(k, n1, j, n2) > limit {
			k++
		}
		r.least[j] = k
	}
	return r.supremum()
}

// upperTail is Fisher's one-sided p-value: the probability of k1 or more in the first
// sample, and so of k2 or fewer in the second, if k1+k2 passed in both.
func upperTail(k1, n1, k2, n2 int) float64 {
	passed, failed := k1+k2, n1+n2-k1-k2
	p := math.Exp(mathx.Lchoose(passed, k2) + mathx.Lchoose(failed, n2-k2) - mathx.Lchoose(n1+n2, n2))
	sum := 0.0
	for x := k2; x >= 0 && p > 0; x-- {
		sum += p
		p *= float64(x) / float64(passed-x+1) * float64(failed-n2+x) / float64(n2-x+1)
	}
	return min(1, sum)
}

// region is a set of outcomes: with j of the second sample, least[j] or more of the
// first.
type region struct {
	first, second binomial
	least         []int
}

// supremum is the largest probability of the region at any rate of both samples. The
// grid is even in the angle of which the rate is the squared sine, in which binomial
// distributions are equally wide everywhere.
func (r *region) supremum() float64 {
	const grid = 100
	at := func(i float64) float64 {
		s := math.Sin(i * math.Pi / 2 / grid)
		return r.probability(s * s)
	}
	best, where := 0.0, 0.0
	for i := 1.0; i < grid; i++ {
		if p := at(i); p > best {
			best, where = p, i
		}
	}
	lo, hi := where-1, where+1
	for range 30 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		pa, pb := at(a), at(b)
		best = max(best, pa, pb)
		if pa < pb {
			lo = a
		} else {
			hi = b
		}
	}
	return best
}

func (r *region) probability(rate float64) float64 {
	first, second := r.first.at(rate), r.second.at(rate)
	// From here on first holds the probabilities of as many or more.
	for k := len(first) - 2; k >= 0; k-- {
		first[k] += first[k+1]
	}
	sum := 0.0
	for j, least := range r.least {
		if least < len(first) {
			sum += second[j] * first[least]
		}
	}
	return sum
}

// binomial is the binomial distributions of one size. It is not safe for concurrent
// use.
type binomial struct {
	choose []float64 // logarithms of the numbers of ways
	p      []float64
}

func newBinomial(n int) binomial {
	b := binomial{choose: make([]float64, n+1), p: make([]float64, n+1)}
	for k := range b.choose {
		b.choose[k] = mathx.Lchoose(n, k)
	}
	return b
}

// at returns the probabilities of 0, 1, ... at a rate in (0, 1), until it is called
// again.
func (b *binomial) at(rate float64) []float64 {
	yes, no := math.Log(rate), math.Log1p(-rate)
	n := len(b.choose) - 1
	for k, ways := range b.choose {
		b.p[k] = math.Exp(ways + float64(k)*yes + float64(n-k)*no)
	}
	return b.p
}
