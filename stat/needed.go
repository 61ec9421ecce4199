package stat

import (
	"math"
)

// maxNeeded is the largest number that Needed gives.
const maxNeeded = 1_000_000_000

// Needed is how many observations would decide about an effect that Summary s does
// not: with so many, if value and spread stay as they are, its interval lies on one
// side of 0, or within margin of it. The width of an interval shrinks with the root
// of the number. tests is how many tests there are together; to reject at the level
// that Holm's correction demands of the first of them takes an interval that is
// wider by the quotient of their normal quantiles.
//
// It is a plan and no promise. It is 0 where no number is enough, or where nothing
// is known about the spread.
func Needed(s Summary, margin float64, tests int) int {
	in := s.Interval
	if in == nil || math.IsNaN(s.Value) {
		return 0
	}
	below, above := s.Value-in.Lo, in.Hi-s.Value
	toZero := below
	if s.Value < 0 {
		toZero = above
	}
	tail := (1 - in.Level) / 2
	wider := normalQuantile(1-tail/float64(max(1, tests))) / normalQuantile(1-tail)
	// By how much the interval may shrink and still decide; the more the better.
	different := math.Abs(s.Value) / (toZero * wider)
	tied := min((margin-s.Value)/above, (margin+s.Value)/below)
	shrink := max(different, tied)
	if !(shrink > 0) {
		return 0
	}
	n := math.Ceil(float64(s.N) / (shrink * shrink))
	if n > maxNeeded {
		return 0
	}
	return int(n)
}
