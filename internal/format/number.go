// Package format formats numbers with significant digits, and JSON in one style.
package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Number formats whole numbers in full up to 99,999, larger ones as 123k or 12.3M, and means with
// one decimal.
func Number(v float64) string {
	switch abs := math.Abs(v); {
	case abs >= 999_500_000:
		return Significant(v/1e9) + "G"
	case abs >= 999_500:
		return Significant(v/1e6) + "M"
	case abs >= 99_999.5:
		return Significant(v/1e3) + "k"
	case v == math.Trunc(v) || abs >= 1000:
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	case abs < 0.1:
		return Significant(v)
	default:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
}

// Money formats amounts with cents, and small amounts with three significant digits.
func Money(v float64) string {
	if v == 0 || math.Abs(v) >= 1 {
		return thousands(strconv.FormatFloat(v, 'f', 2, 64))
	}
	return Significant(v)
}

// Int formats a whole number in full: 12,345.
func Int(n int) string { return thousands(strconv.Itoa(n)) }

// thousands separates the thousands of a decimal number: -12,345.6.
func thousands(number string) string {
	end := strings.IndexByte(number+".", '.')
	for i := end - 3; i > strings.IndexByte(number, '-')+1; i -= 3 {
		number = number[:i] + "," + number[i:]
	}
	return number
}

// Significant formats three significant digits.
func Significant(v float64) string {
	if v == 0 {
		return "0"
	}
	// Rounded first: 0.9996 has its first digit before the point once rounded.
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', min(max(digits, 0), 9), 64)
}

// Seconds formats a duration with about three digits: 450ms, 1.25s, 59.9s, 12m 5s, 4h 0m.
func Seconds(v float64) string {
	if math.Abs(v) > math.MaxInt64/float64(time.Second)/2 {
		return Significant(v) + "s"
	}
	d := time.Duration(v * float64(time.Second))
	for _, step := range []struct{ from, to time.Duration }{
		{0, time.Microsecond},
		{time.Millisecond, 100 * time.Microsecond},
		{100 * time.Millisecond, time.Millisecond},
		{time.Second, 10 * time.Millisecond},
		{10 * time.Second, 100 * time.Millisecond},
		{time.Minute, time.Second},
		{time.Hour, time.Minute},
	} {
		if d.Abs() >= step.from { // rounded as often as rounding brings it to the next step
			d = d.Round(step.to)
		}
	}
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%s%dh %dm", sign, d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%s%dm %ds", sign, d/time.Minute, d%time.Minute/time.Second)
	}
	return sign + d.String()
}

// Time formats a time to the minute, in UTC.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// Count returns "1 call", "2,000 calls".
func Count(n int, noun string) string {
	return Int(n) + strings.TrimPrefix(Plural(n, noun), strconv.Itoa(n))
}

// Plural returns "1 call", "2000 calls", for texts that programs read, too.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Points is the unit of differences of shares: percentage points.
const Points = "points"

// Amount formats a value with its unit: 1.25s, 0.0110 EUR, 17.0 points, 24.2.
func Amount(v float64, unit string) string {
	switch unit {
	case "":
		return Number(v)
	case "s":
		return Seconds(v)
	case Points:
		return strconv.FormatFloat(100*v, 'f', 1, 64) + " " + unit
	case "EUR", "USD":
		return Money(v) + " " + unit
	}
	return Significant(v) + " " + unit
}

// Signed formats a difference with its sign; show formats its size.
func Signed(v float64, show func(float64) string) string {
	switch {
	case v > 0:
		return "+" + show(v)
	case v < 0:
		return "-" + show(-v)
	}
	return show(0)
}

// Percent formats a share with at most one decimal: 66.7 %, 100 %.
func Percent(share float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(100*share, 'f', 1, 64), ".0") + " %"
}

// PValue formats a p-value to follow "p": "= 0.004". A tiny one is only bounded.
func PValue(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("= %.2g", p)
}
