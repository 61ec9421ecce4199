package stat

import (
	"math"
	"slices"
)

// Effect is an estimate of a mean difference between the two sides of pairs.
type Effect struct {
	// Value is the mean difference; NaN without differences.
	Value float64
	// SE is its standard error; NaN where nothing is known about the spread.
	SE float64
	// DF are the degrees of freedom of SE.
	DF float64
	// N is the number of independent observations: pairs, or groups of them.
	N int
	// Apart counts those of N that are not 0; Odd those that are not like the value that
	// most of their group have.
	Apart, Odd int
	// Skew is the third cumulant of Value, such as the third central moment of the
	// observations by the square of their number; it is estimated like the variance.
	Skew float64
	// Chances is how often a value that has not shown yet could have: the number of pairs
	// where groups have the same number of them, and otherwise what there would be if all
	// had as few as the smallest; or the number of groups of which they are a sample.
	Chances int
	// Bound is the largest difference between two shares, which is 1; 0 for other measures.
	Bound float64
	// Sampled is true where the observations are means of groups. These vary more evenly
	// than single pairs, so that only equivalence needs an allowance for a spread that is
	// too small.
	Sampled bool
}

// Within estimates the mean difference over these very groups of pairs, such as the
// trials of several scenarios, every group weighing the same however many pairs it has.
// Groups are strata: differences between them are not errors. The variance is the sum of
// those of the groups' means, and its degrees of freedom are Satterthwaite's
// (Biometrics Bulletin 2, 1946); those of differences with a bound are the pairs less
// the groups, as many groups then have no spread at all. A group of one pair takes the
// mean variance of the others.
func Within(groups [][]float64, bound float64) Effect {
	e := Effect{Value: math.NaN(), SE: math.NaN(), Bound: bound}
	var variances Moments
	var means []float64
	pairs, fewest := 0, math.MaxInt
	for _, group := range groups {
		if len(group) == 0 {
			continue
		}
		e.count(group)
		pairs, fewest = pairs+len(group), min(fewest, len(group))
		means = append(means, Mean(group))
		if m := momentsOf(group); m.n > 1 {
			variances.Add(m.m2 / float64(m.n-1))
		}
	}
	if len(means) == 0 {
		return e
	}
	e.Value, e.N, e.Chances = meanDifference(means, groups), pairs, len(means)*fewest
	if variances.n == 0 {
		return e
	}
	sum, squares, skew := 0.0, 0.0, 0.0
	for _, group := range groups {
		if len(group) == 0 {
			continue
		}
		part := variances.mean
		if len(group) > 1 {
			m := momentsOf(group)
			part = m.m2 / float64(m.n-1)
		}
		part /= float64(len(group))
		skew += skewOf(group)
		e.Odd += odd(group)
		sum += part
		squares += part * part / math.Max(1, float64(len(group)-1))
	}
	e.SE = math.Sqrt(sum) / float64(len(means))
	e.Skew = skew / math.Pow(float64(len(means)), 3)
	e.DF = float64(max(1, pairs-len(means)))
	if bound == 0 && squares > 0 {
		e.DF = min(e.DF, sum*sum/squares)
	}
	return e
}

// Between estimates the mean difference over all groups of which these are a sample:
// each is one observation, the mean of its pairs, however many it has, so that pairs of
// one group need not be independent. It is Student's estimate for the groups' means.
func Between(groups [][]float64, bound float64) Effect {
	e := Effect{Value: math.NaN(), SE: math.NaN(), Bound: bound, Sampled: true}
	var means []float64
	for _, group := range groups {
		if len(group) > 0 {
			means = append(means, meanDifference([]float64{Mean(group)}, [][]float64{group}))
		}
	}
	if len(means) == 0 {
		return e
	}
	e.count(means)
	e.Value, e.N, e.Chances = meanDifference(means, groups), len(means), len(means)
	if m := momentsOf(means); m.n > 1 {
		e.SE = math.Sqrt(m.m2 / float64(m.n-1) / float64(m.n))
		e.DF = float64(m.n - 1)
		e.Skew, e.Odd = skewOf(means), odd(means)
	}
	return e
}

// count adds the differences that are not 0.
func (e *Effect) count(differences []float64) {
	for _, d := range differences {
		if d != 0 {
			e.Apart++
		}
	}
}

// Mean returns the mean of values, NaN if it is empty. They are added in ascending
// order, so that the same values in another order have the same mean to the last bit.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range slices.Sorted(slices.Values(values)) {
		sum += v
	}
	return sum / float64(len(values))
}

// meanDifference returns the mean of the groups' means. It is 0 where it is only the
// rounding error of differences that cancel.
func meanDifference(means []float64, groups [][]float64) float64 {
	largest := 0.0
	for _, group := range groups {
		for _, d := range group {
			largest = max(largest, math.Abs(d))
		}
	}
	mean := Mean(means)
	if math.Abs(mean) <= 1e-12*largest {
		return 0
	}
	return mean
}

func momentsOf(values []float64) (m Moments) {
	for _, v := range values {
		m.Add(v)
	}
	return m
}

// skewOf is the third cumulant of the mean of values.
func skewOf(values []float64) float64 {
	m, n, sum := momentsOf(values), float64(len(values)), 0.0
	for _, v := range values {
		d := v - m.mean
		sum += d * d * d
	}
	return sum / (n * n * n)
}

// odd counts the values that are not the one that is there most often, but for rounding.
func odd(values []float64) int {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	rounding := 1e-9 * max(math.Abs(sorted[0]), math.Abs(sorted[len(sorted)-1]))
	first, most := 0, 0
	for i, v := range sorted {
		for v-sorted[first] > rounding {
			first++
		}
		most = max(most, i-first+1)
	}
	return len(sorted) - most
}

// Known reports whether anything can be tested.
func (e Effect) Known() bool { return e.N > 0 && !math.IsNaN(e.SE) }

// student is Student's distribution of the estimate.
func (e Effect) student() studentsT { return studentsT(e.DF) }

// tail is the probability of an estimate as far as distance above the truth, or more.
//
// The estimate is Student's. Differences with a bound have a spread that is too small,
// or none, where few of them are not 0. To their variance is added what makes the
// interval that of Tango's score (Statistics in Medicine 17, 1998) where no pair
// differs, ±z²/(n + z²): the z of a distance then solves
//
//	distance² = z²·SE² + (bound·z²/(n + z²))²
func (e Effect) tail(distance float64, allow bool) float64 {
	switch small := 1e-12 * math.Abs(e.Value); {
	case distance < 0:
		return 1 - e.tail(-distance, allow)
	case allow:
		return e.student().survival(e.scored(distance))
	case e.SE > small:
		return e.student().survival(distance / e.SE)
	case distance <= small: // equal but for rounding
		return 0.5
	default:
		return 0
	}
}

// allows reports whether P and the interval allow for a spread that is too small.
func (e Effect) allows() bool {
	return e.Bound > 0 && (!e.Sampled || e.SE <= 1e-12*math.Abs(e.Value))
}

// farthest is where scored ends.
const farthest = 1e3

// scored is the z of a distance.
func (e Effect) scored(distance float64) float64 {
	lo, hi := 0.0, farthest
	for range 60 {
		z := (lo + hi) / 2
		if e.half(z, true) < distance {
			lo = z
		} else {
			hi = z
		}
	}
	return hi
}

// half is half the width of the interval at a quantile z.
func (e Effect) half(z float64, allow bool) float64 {
	if !allow {
		return z * e.SE
	}
	return math.Hypot(z*e.SE, e.Bound*z*z/(float64(e.N)+z*z))
}

// P is the two-sided p-value that there is no difference. It is at least 2·2⁻ᵏ, where k
// of the differences are not 0: that is what the exact test has that gives all signs
// to them, so that a few differences that happen to be alike prove nothing. It is 1
// where nothing is known.
func (e Effect) P() float64 {
	if !e.Known() || e.Apart == 0 {
		return 1
	}
	return min(1, max(2*e.tail(math.Abs(e.Value), e.allows()), 2*math.Pow(0.5, float64(e.Apart))))
}

// fewest is how many observations must differ from the common value before the spread
// of those without a bound is taken for known.
const fewest = 3

// Even reports whether so few observations differ from the others, though they are no
// shares, that their spread is not known well enough to plan by it.
func (e Effect) Even() bool { return e.Bound == 0 && e.Odd < fewest }

// Summary is the effect with its interval at a level. It is missing where nothing is
// known about the spread.
func (e Effect) Summary(level float64) Summary {
	if e.N == 0 {
		return none()
	}
	s := Summary{Value: e.Value, N: e.N}
	if !e.Known() {
		s.Warnings = []string{"nothing is known about the spread"}
		return s
	}
	half := e.half(e.student().quantile(1-(1-level)/2), e.allows())
	if half == 0 {
		s.Warnings = []string{"all differences are equal: nothing is known about the spread"}
		return s
	}
	in := Interval{Lo: e.Value - half, Hi: e.Value + half, Level: level, Method: "student-t", N: e.N}
	if e.allows() {
		in.Method = "score-t"
	}
	if e.Bound > 0 {
		in.Lo, in.Hi = max(in.Lo, -e.Bound), min(in.Hi, e.Bound)
	}
	s.Interval = &in
	return s
}
