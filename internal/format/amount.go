package format

import (
	"fmt"
	"strconv"
)

// Difference returns an amount with its sign; 0 has a plus.
func Difference(v float64, unit string) string {
	if v < 0 {
		return "-" + Amount(-v, unit)
	}
	return "+" + Amount(v, unit)
}

// Interval returns the interval of a difference: "95 % interval +80ms to +150ms".
func Interval(level, lo, hi float64, unit string) string {
	return fmt.Sprintf("%s interval %s to %s", Limit(level), Difference(lo, unit), Difference(hi, unit))
}

// Limit returns a share in percent with all its digits, for a limit that a person set:
// "0.25 %".
func Limit(share float64) string { return strconv.FormatFloat(100*share, 'g', 6, 64) + " %" }
