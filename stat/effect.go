package stat

import (
	"math"
	"slices"
)

// Effect is an estimate of the mean difference between the two sides of pairs.
type Effect struct {
	// Value is the mean difference; NaN without differences.
	Value float64
	// SE is its standard error; NaN if the spread is unknown.
	SE float64
	// DF are the degrees of freedom of SE.
	DF float64
	// N is the number of independent observations: pairs, or groups of them.
	N int
	// Apart counts the observations that are not 0; Odd the observations that differ from the most common
	// value of their group.
	Apart, Odd int
	// Skew is the third cumulant of Value, such as the third central moment of the observations
	// divided by the square of their number; it is estimated like the variance.
	Skew float64
	// Chances is the number of opportunities for a value that has not occurred yet: the number of
	// pairs if all groups have the same number of them, otherwise the number if all had as few as
	// the smallest group; or the number of sampled groups.
	Chances int
	// Bound is the largest possible difference between two shares, which is 1; 0 for other
	// measures.
	Bound float64
	// Sampled is true if the observations are means of groups. These vary more evenly than single
	// pairs, so only equivalence needs an allowance for an underestimated spread.
	Sampled bool
}

// Within estimates the mean difference over exactly these groups of pairs, such as the trials of
// several scenarios, with equal weights for all groups. Groups are strata: differences between them
// are not errors. The variance is the sum of the variances of the groups' means, with
// Satterthwaite's degrees of freedom (Biometrics Bulletin 2, 1946); for bounded differences these
// are the pairs minus the groups, because many groups then have no spread. A group of one pair gets
// the mean variance of the others.
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

// Between estimates the mean difference over all groups of which these are a sample. The mean of
// each group is one observation, whatever its number of pairs, so the pairs of a group may be
// dependent. It is Student's estimate for the groups' means.
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

// count counts the differences that are not 0.
func (e *Effect) count(differences []float64) {
	for _, d := range differences {
		if d != 0 {
			e.Apart++
		}
	}
}

// Mean returns the mean of values, NaN if empty. It adds them in ascending order, so that the
// result does not depend on their order.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range slices.Sorted(slices.Values(values)) {
		sum += v
	}
	return sum / float64(len(values))
}

// meanDifference returns the mean of the groups' means. It is 0 if only the rounding error of
// cancelling differences remains.
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

// skewOf returns the third cumulant of the mean of values.
func skewOf(values []float64) float64 {
	m, n, sum := momentsOf(values), float64(len(values)), 0.0
	for _, v := range values {
		d := v - m.mean
		sum += d * d * d
	}
	return sum / (n * n * n)
}

// odd counts the values that differ from the most common one by more than rounding.
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

// student returns Student's distribution of the estimate.
func (e Effect) student() studentsT { return studentsT(e.DF) }

// tail returns the probability of an estimate at least distance above the truth.
//
// The estimate is Student's. If few bounded differences are not 0, their observed spread is too
// small, or zero. Their variance is therefore increased so that the interval equals
// that of Tango's score (Statistics in Medicine 17, 1998) if no pair
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
	case distance <= small: // equal except for rounding
		return 0.5
	default:
		return 0
	}
}

// allows reports whether P and the interval need an allowance for an underestimated spread.
func (e Effect) allows() bool {
	return e.Bound > 0 && (!e.Sampled || e.SE <= 1e-12*math.Abs(e.Value))
}

// farthest is the largest z that scored returns.
const farthest = 1e3

// scored returns the z of a distance with the allowance for an underestimated spread; see tail.
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

// half returns half the width of the interval at a quantile z.
func (e Effect) half(z float64, allow bool) float64 {
	if !allow {
		return z * e.SE
	}
	return math.Hypot(z*e.SE, e.Bound*z*z/(float64(e.N)+z*z))
}

// P returns the two-sided p-value of no difference. It is at least 2·2⁻ᵏ if k differences are not
// 0, as in the exact test over all signs, so that a few equal differences prove nothing. It is 1 if
// the spread is unknown.
func (e Effect) P() float64 {
	if !e.Known() || e.Apart == 0 {
		return 1
	}
	return min(1, max(2*e.tail(math.Abs(e.Value), e.allows()), 2*math.Pow(0.5, float64(e.Apart))))
}

// fewest is the number of observations that must differ from the common value before the spread of
// an unbounded measure counts as known.
const fewest = 3

// Even reports whether so few observations of a measure other than a share differ from the others
// that its spread is too uncertain for planning.
func (e Effect) Even() bool { return e.Bound == 0 && e.Odd < fewest }

// Summary returns the effect with its interval at a level. The interval is missing if the spread is
// unknown.
func (e Effect) Summary(level float64) Summary {
	if e.N == 0 {
		return none()
	}
	s := Summary{Value: e.Value, N: e.N}
	if !e.Known() {
		s.Warnings = []string{"the spread is unknown"}
		return s
	}
	half := e.half(e.student().quantile(1-(1-level)/2), e.allows())
	if half == 0 {
		s.Warnings = []string{"all differences are equal: the spread is unknown"}
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
