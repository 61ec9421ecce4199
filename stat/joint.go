package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Joint is the result of jointly testing several measures of the same trials.
type Joint struct {
	// P contains the p-values of the measures, corrected for their number.
	P []float64
	// Least contains the smallest possible values of P over all labellings of the trials; lower
	// bounds where P was simulated.
	Least []float64
	// Extreme is true for a measure that could not differ more: all differences have the same
	// sign, or all values after are on the same side of the values before.
	Extreme []bool
}

// JointPairs tests whether the paired differences after[m][i] - before[m][i] of the
// measures m are symmetric about 0, by Wilcoxon's signed ranks (Biometrics Bulletin 1, 1945).
// Values that are NaN on either side are missing.
//
// The correction is that of Westfall and Young (Resampling-Based Multiple Testing,
// 1993, section 2.3, single step): without a change, before and after of a trial can
// be exchanged, in all measures at once. With T(m) the distance of the rank sum of
// measure m from its mean, in standard deviations,
//
//	P(m) = share of the 2^n ways to exchange trials in which max over k of T(k) ≥ T(m)
//
// Measures that change together therefore count as one, and independent ones as several.
// P is exact for up to 14 trials that differ. Beyond that, P is the upper bound that
// Bonferroni's correction gives: the p-value of the measure alone times the number of measures.
// If the p-value of any measure alone is between a ten-thousandth and a fifth, so that the
// difference may matter, P is estimated from 2,000 random exchanges, always the same ones.
func JointPairs(before, after [][]float64) Joint {
	t := newJoint(len(before), len(before[0]), false)
	for m := range before {
		ranks := pairRanks(before[m], after[m])
		for i, r := range ranks {
			t.scores[i][m] = float64(r)
		}
		t.single(m, ranks)
	}
	return t.test()
}

// JointSamples is JointPairs for independent trials before and after: the values of both sides are
// ranked together (the rank-sum test of Wilcoxon, and of Mann and Whitney), and all ways to label n
// of the 2n trials "before" are equally likely. Its smallest p-value, 2 / C(2n, n), is far below
// the 2 / 2^n of pairs. P is exact for up to 8 trials on a side. Trials with a missing value are
// left out.
func JointSamples(before, after [][]float64) Joint {
	before, after = complete(before, after)
	n := len(before[0])
	t := newJoint(len(before), 2*n, true)
	for m := range before {
		ranks := sampleRanks(before[m], after[m])
		for i, r := range ranks {
			t.scores[i][m] = float64(r)
		}
		t.single(m, ranks)
	}
	return t.test()
}

// LeastSamples returns the smallest number of trials on each side for which JointSamples, or
// Fisher's test, can be significant: the least n with 2 / C(2n, n) ≤ alpha.
func LeastSamples(alpha float64) int {
	n := 1
	for n < 100 && 2/halvings(2*n) > alpha {
		n++
	}
	return n
}

// halvings returns the number of ways to choose half of n things, exact up to 2^53.
func halvings(n int) float64 {
	half, ways := n/2, 1.0
	for i := 1; i <= half; i++ {
		ways = ways * float64(half+i) / float64(i)
	}
	return ways
}

// The limits of joint tests: up to maxLabellings are enumerated; beyond, drawnLabels are drawn if a
// p-value is between the bounds.
const (
	maxLabellings = 10_000
	drawnLabels   = 2_000
	leastDrawn    = 1e-4
	mostDrawn     = 0.2
)

// joint is the state of a joint test. Each unit, a pair or a trial of either side, is labelled plus
// or minus. The statistic of a measure is the sum of its scores, each with the sign of its unit's
// label.
type joint struct {
	// balanced requires as many plus as minus labels.
	balanced bool
	// scores are the scores of each unit, by measure; in the observed labelling, all units of
	// pairs are plus, and of samples the second half.
	scores [][]float64
	// observed and top are the statistic of each measure and its largest possible value.
	observed, top []float64
	// alone and least are the p-value of each measure by itself, and the smallest possible one.
	alone, least []float64
	// beyond and possible count labellings at least as extreme as observed and as top.
	beyond, possible []int
	labellings       int
}

func newJoint(measures, units int, balanced bool) *joint {
	numbers := func() []float64 { return make([]float64, measures) }
	t := &joint{
		balanced: balanced, scores: make([][]float64, units), observed: numbers(), top: numbers(), alone: numbers(), least: numbers(),
		beyond: make([]int, measures), possible: make([]int, measures),
	}
	for i := range t.scores {
		t.scores[i] = numbers()
	}
	return t
}

// single prepares one measure: its scores are divided by the standard deviation of its statistic,
// which makes the statistics of measures comparable.
func (t *joint) single(m int, scores []int) {
	n, sum, most, squares := len(scores), 0.0, 0.0, 0.0
	sorted := slices.Sorted(slices.Values(scores))
	for i, s := range scores {
		x := float64(s)
		squares += x * x
		switch {
		case !t.balanced:
			sum += x
			most += math.Abs(x)
		case i >= n/2:
			sum += x
			most += float64(sorted[i])
		default:
			sum -= x
			most -= float64(sorted[i])
		}
	}
	if squares == 0 {
		t.alone[m], t.least[m] = 1, 1
		return
	}
	if t.balanced {
		t.alone[m], t.least[m] = balancedP(scores, sum), 2/halvings(n)
		squares *= float64(n) / float64(n-1)
	} else {
		t.alone[m], t.least[m] = pairsP(scores)
	}
	sd := math.Sqrt(squares)
	for i := range t.scores {
		t.scores[i][m] /= sd
	}
	t.observed[m], t.top[m] = math.Abs(sum)/sd, most/sd
}

// rounding is the largest difference of statistics that count as equal.
const rounding = 1e-9

func (t *joint) test() Joint {
	if !t.balanced { // pairs that never differ have no sign
		t.scores = slices.DeleteFunc(t.scores, func(unit []float64) bool {
			return !slices.ContainsFunc(unit, func(x float64) bool { return x != 0 })
		})
	}
	measures := len(t.observed)
	out := Joint{P: make([]float64, measures), Least: make([]float64, measures), Extreme: make([]bool, measures)}
	several, unclear := 0, false
	for m := range t.top {
		if out.Extreme[m] = t.top[m] > 0 && t.observed[m] >= t.top[m]-rounding; t.top[m] > 0 {
			several++
		}
		unclear = unclear || t.alone[m] >= leastDrawn && t.alone[m] <= mostDrawn
	}
	exact := t.count() <= maxLabellings
	switch {
	case several < 2:
	case exact:
		t.enumerate(0, len(t.scores), len(t.scores), make([]float64, measures))
	case unclear:
		t.draw(rand.New(rand.NewPCG(1, 1)))
	}
	for m := range out.P {
		switch {
		case several < 2 || t.top[m] == 0:
			out.P[m], out.Least[m] = t.alone[m], t.least[m]
		case exact:
			out.P[m] = float64(t.beyond[m]) / float64(t.labellings)
			out.Least[m] = float64(t.possible[m]) / float64(t.labellings)
		default:
			out.P[m], out.Least[m] = min(1, float64(several)*t.alone[m]), t.least[m]
			if unclear {
				drawn := float64(1+t.beyond[m]) / float64(1+t.labellings)
				out.P[m] = max(t.alone[m], min(drawn, out.P[m]))
			}
		}
	}
	return out
}

// count returns the number of labellings, up to exchanging plus and minus.
func (t *joint) count() float64 {
	if t.balanced {
		return halvings(len(t.scores)) / 2
	}
	return math.Ldexp(1, len(t.scores)-1)
}

// enumerate visits all labellings of the units from i on with at most the given numbers of plus and
// minus; sums are the sums over the units before i. The first unit is plus, because exchanging plus and
// minus changes no statistic.
func (t *joint) enumerate(i, plus, minus int, sums []float64) {
	if i == 0 && t.balanced {
		plus, minus = plus/2, minus/2
	}
	if i == len(t.scores) {
		t.add(sums)
		return
	}
	next := make([]float64, len(sums))
	for _, sign := range []float64{1, -1} {
		left := &plus
		if sign < 0 {
			left = &minus
		}
		if *left == 0 || i == 0 && sign < 0 {
			continue
		}
		for m, x := range t.scores[i] {
			next[m] = sums[m] + sign*x
		}
		*left--
		t.enumerate(i+1, plus, minus, next)
		*left++
	}
}

// draw adds random labellings.
func (t *joint) draw(r *rand.Rand) {
	signs := make([]float64, len(t.scores))
	sums := make([]float64, len(t.observed))
	for i := range signs {
		signs[i] = float64(1 - 2*(i%2))
	}
	for range drawnLabels {
		if t.balanced {
			r.Shuffle(len(signs), func(i, j int) { signs[i], signs[j] = signs[j], signs[i] })
		} else {
			drawSigns(signs, r)
		}
		clear(sums)
		for i, unit := range t.scores {
			for m, x := range unit {
				sums[m] += signs[i] * x
			}
		}
		t.add(sums)
	}
}

// drawSigns draws signs, 64 at a time.
func drawSigns(signs []float64, r *rand.Rand) {
	var bits uint64
	for i := range signs {
		if i%64 == 0 {
			bits = r.Uint64()
		}
		signs[i] = float64(int(bits&1)*2 - 1)
		bits >>= 1
	}
}

// add counts a labelling.
func (t *joint) add(sums []float64) {
	largest := 0.0
	for _, s := range sums {
		largest = max(largest, math.Abs(s))
	}
	t.labellings++
	for m := range sums {
		if largest >= t.observed[m]-rounding {
			t.beyond[m]++
		}
		if largest >= t.top[m]-rounding {
			t.possible[m]++
		}
	}
}
