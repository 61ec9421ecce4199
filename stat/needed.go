package stat

import (
	"math"
)

// maxNeeded is the largest result of Needed.
const maxNeeded = 1_000_000_000

// Needed returns how many observations would decide an undecided effect s: with that many, and the
// same value and spread, its interval lies on one side of 0, or within margin of 0.
// The width of an interval shrinks with the square root of the number. tests is the number of
// joint tests: Holm's correction requires a stricter level of the first rejection, which
// widens the interval by the quotient of the two normal quantiles.
//
// The result is an estimate. It is 0 if no number is enough or the spread is unknown.
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
	// The factor by which the interval may shrink and still decide; larger is better.
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
